// node compile.mjs PYODIDE IN.zip OUT.zip [IN.zip OUT.zip ...]: the modules of archives, compiled by Pyodide's own Python. For the build, not for browsers.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); }); // without Pyodide's own source
const [folder, ...archives] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
python.runPython(`
import ast, importlib._bootstrap_external as pyc, zipfile

def bare(source):
    """The module without docstrings, whose examples are answers, and with its assertions."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body[:1] = [] if len(node.body) > 1 else [ast.copy_location(ast.Pass(), node.body[0])]
    return tree

def compiled(name, data):
    if name.startswith("headwright/"):
        return compile(bare(data), name, "exec", dont_inherit=True, optimize=0)
    documented = name.startswith(("pyodide/", "_pyodide/"))  # it reads its own docstrings
    return compile(data, name, "exec", dont_inherit=True, optimize=0 if documented else 2)

def convert():
    with zipfile.ZipFile("/given.zip") as given, zipfile.ZipFile("/made.zip", "w") as made:
        for name in given.namelist():
            data = given.read(name)
            if name.endswith(".py"):
                made.writestr(name + "c", pyc._code_to_timestamp_pyc(compiled(name, data)))
            elif name.endswith("/__init__.pyi") and name.startswith("headwright/") or not name.endswith((".pyi", ".pxd", ".js", ".html", "/")):
                made.writestr(name, data)
`);
for (let i = 0; i < archives.length; i += 2) {
  python.FS.writeFile("/given.zip", new Uint8Array(readFileSync(archives[i])));
  python.runPython("convert()");
  writeFileSync(archives[i + 1], python.FS.readFile("/made.zip"));
}
