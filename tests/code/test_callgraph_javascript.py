import pytest
from graphs import calls


def test_es_modules_default_named_namespace_and_index():
    found = calls(
        {
            "src/index.js": (
                "export { default as build, helper as h } from './core.js'\n"
                "export * from './more'\nexport * as tools from './tools.js'\n"
            ),
            "src/core.js": "export default function build() { helper() }\nexport function helper() {}\n",
            "src/more/index.js": "const f = () => 1\nexport { f, f as g }\n",
            "src/tools.js": "export class Tool { static make() { return new Tool() } run() {} }\n",
            "app.js": (
                "import { build as b, h, g, tools } from './src'\n"
                "import * as core from './src/core.js'\nimport main from './src/core.js'\n"
                "function run() { b(); h(); g(); core.helper(); main(); tools.Tool.make().run() }\n"
            ),
        }
    )
    assert found == {
        "app.js:run -> src/core.js:build": "certain import",
        "app.js:run -> src/core.js:helper": "certain import",
        "app.js:run -> src/more/index.js:f": "certain import",
        "app.js:run -> src/tools.js:Tool.make": "certain class",
        "app.js:run -> src/tools.js:Tool.run": "likely return",
        "src/core.js:build -> src/core.js:helper": "certain local",
        "src/tools.js:Tool.make -> src/tools.js:Tool": "certain local",
    }


def test_commonjs():
    found = calls(
        {
            "a.js": (
                "const { parse, print: show } = require('./b')\nconst whole = require('./c')\n"
                "const Thing = require('./d').implementation\n"
                "function f() { parse(); show(); whole(); new Thing().go(); require('./b').late() }\n"
            ),
            "b.js": (
                "function parse() {}\nmodule.exports = { parse, print() {}, ...require('./e') }\n"
            ),
            "c.js": "module.exports = function () { inner() }\nfunction inner() {}\n",
            "d.js": "exports.implementation = class Thing { go() { this.stop() } stop() {} }\n",
            "e.js": "exports.late = () => {}\n",
        }
    )
    assert set(found) == {
        "a.js:f -> b.js:parse",
        "a.js:f -> b.js:module.exports.print",
        "a.js:f -> c.js:module.exports",
        "a.js:f -> d.js:exports.implementation.Thing",
        "a.js:f -> d.js:exports.implementation.Thing.go",
        "a.js:f -> e.js:exports.late",
        "c.js:module.exports -> c.js:inner",
        "d.js:exports.implementation.Thing.go -> d.js:exports.implementation.Thing.stop",
    }


def test_this_in_classes_literals_and_prototypes():
    found = calls(
        {
            "a.js": (
                "class A extends B { constructor() { super(); this.go() } go() { super.go() } }\n"
                "class B { constructor() {} go() {} }\n"
                "const table = { one() { this.two() }, two() {} }\n"
                "function Old() {}\nOld.prototype.run = function () { this.stop() }\n"
                "Old.prototype.stop = function () {}\n"
                "table.one()\n"
            )
        }
    )
    assert {edge.replace("a.js:", ""): how for edge, how in found.items()} == {
        "A.constructor -> A.go": "certain self",
        "A.constructor -> B.constructor": "certain super",
        "A.go -> B.go": "certain super",
        "table.one -> table.two": "certain object",
        "Old.run -> Old.stop": "certain object",
        " -> table.one": "certain object",
    }


def test_nameless_default_exports_are_called_default():
    found = calls(
        {
            "a.ts": "import Tag from './b'\nimport go from './c'\nnew Tag().render()\ngo()\n",
            "b.ts": "export default class extends Base { render() { this.emit() } }\nimport { Base } from './base'\n",
            "base.ts": "export class Base { emit() {} }\n",
            "c.ts": "export default () => 1\n",
        }
    )
    assert set(found) == {
        "a.ts: -> b.ts:default",
        "a.ts: -> b.ts:default.render",
        "a.ts: -> c.ts:default",
        "b.ts:default.render -> base.ts:Base.emit",
    }


def test_typescript_types_tell_the_receiver():
    found = calls(
        {
            "a.ts": (
                "import type { Store } from './b.js'\nimport { open, Reader } from './b'\n"
                "class A {\n  private store: Store\n"
                "  constructor(private readonly reader: Reader, other?: Reader | null) { other?.read() }\n"
                "  async run() { this.reader.read(); this.store.put(); (await open()).read() }\n}\n"
            ),
            "b.ts": (
                "export interface Store { put(): void }\n"
                "export class Disk implements Store { put() {} }\n"
                "export class Reader { read() {} }\n"
                "export async function open(): Promise<Reader> { return new Reader() }\n"
            ),
        }
    )
    assert found == {
        "a.ts:A.constructor -> b.ts:Reader.read": "likely annotation",
        "a.ts:A.run -> b.ts:Disk.put": "likely override",
        "a.ts:A.run -> b.ts:Reader.read": "likely attribute",
        "a.ts:A.run -> b.ts:open": "certain import",
        "b.ts:open -> b.ts:Reader": "certain local",
    }


def test_markup_calls_its_components():
    found = calls(
        {
            "a.tsx": "import { View } from './b'\nexport const Page = () => <View a={1}><div/></View>\n",
            "b.tsx": "export const View = () => <p/>\n",
        }
    )
    assert found == {"a.tsx:Page -> b.tsx:View": "certain markup"}


@pytest.mark.parametrize("written", ["./b", "./b.js", "./b/index", "./b/index.js"])
def test_a_folder_is_its_index(written):
    files = {
        "a.ts": f"import {{ f }} from '{written}'\nf()\n",
        "b/index.ts": "export function f() {}\n",
    }
    if written == "./b.js":
        files["b.ts"] = files.pop("b/index.ts")
    assert len(calls(files)) == 1


def test_packages_are_outside():
    files = {
        "a.js": "import { f } from 'b'\nimport c from './missing'\nf()\nc()\n",
        "b.js": "export function f() {}\n",
    }
    assert calls(files) == {}


def test_modules_that_only_pass_each_other_on_end():
    files = {
        "a.js": "export { default } from './b'\nexport * from './b'\nimport x, { y } from './b'\nx()\ny()\n",
        "b.js": "export { default } from './a'\nexport * from './a'\nconst z = z.z()\n",
    }
    assert calls(files) == {}
