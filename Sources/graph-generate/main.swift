import Foundation
import GraphModel

/// `graph-generate MODEL.json… --output FILE.swift` generates typed managed-object classes. They are those of the
/// newest of the given versions of a model, which is embedded, too. The build-tool plugin runs it.
/// `graph-generate convert` makes model files of a Core Data model.
var arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "convert" {
  ConvertCommand(arguments.dropFirst()).run()
  exit(0)
}

guard let flag = arguments.firstIndex(of: "--output"), flag + 1 < arguments.count else {
  fail("usage: graph-generate MODEL.json… --output FILE.swift, or graph-generate convert MODEL")
}
let output = arguments[flag + 1]
arguments.removeSubrange(flag...(flag + 1))

var newest: Model?
for path in arguments {
  guard let bytes = FileManager.default.contents(atPath: path) else { fail("\(path) can't be read") }
  do {
    let model = try Model(parsing: bytes)
    if model.version > newest?.version ?? 0 { newest = model }
  } catch {
    ModelPlaceFinder(bytes).report(error, in: path)
    exit(1)
  }
}
guard let newest else { fail("no model was given") }
do {
  try ClassGenerator(model: newest).source.write(toFile: output, atomically: true, encoding: .utf8)
} catch {
  fail("\(output) can't be written: \(error)")
}
