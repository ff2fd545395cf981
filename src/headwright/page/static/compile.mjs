// node compile.mjs PYODIDE IN.zip OUT.zip: the modules of an archive, compiled by Pyodide's own Python. For the build, not for browsers.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, given, made] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
python.FS.writeFile("/given.zip", new Uint8Array(readFileSync(given)));
python.runPython(`
import importlib._bootstrap_external as pyc, zipfile
with zipfile.ZipFile("/given.zip") as given, zipfile.ZipFile("/made.zip", "w") as made:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith(".py"):
            code = compile(data, name, "exec", dont_inherit=True, optimize=0)
            made.writestr(name + "c", pyc._code_to_timestamp_pyc(code))
        elif name == "headwright/__init__.pyi" or not name.endswith((".pyi", ".js", ".html")):
            made.writestr(name, data)
`);
writeFileSync(made, python.FS.readFile("/made.zip"));
