// node compile.mjs PYODIDE IN.zip OUT.zip: the modules of an archive, compiled by Pyodide's own Python. For the build, not for browsers.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); }); // without Pyodide's own source
const [folder, given, made] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
python.FS.writeFile("/given.zip", new Uint8Array(readFileSync(given)));
python.runPython(`
import ast, importlib._bootstrap_external as pyc, zipfile

def bare(source):
    """The module without docstrings, whose examples are answers."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body[:1] = [] if len(node.body) > 1 else [ast.copy_location(ast.Pass(), node.body[0])]
    return tree

with zipfile.ZipFile("/given.zip") as given, zipfile.ZipFile("/made.zip", "w") as made:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith(".py"):
            source = bare(data) if name.startswith("headwright/") else data
            code = compile(source, name, "exec", dont_inherit=True, optimize=0)
            made.writestr(name + "c", pyc._code_to_timestamp_pyc(code))
        elif name == "headwright/__init__.pyi" or not name.endswith((".pyi", ".pxd", ".js", ".html")):
            made.writestr(name, data)
`);
writeFileSync(made, python.FS.readFile("/made.zip"));
