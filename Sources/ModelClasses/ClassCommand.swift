import Foundation
import ModelFiles

/// `graph-generate MODEL.json… --output FILE.swift` generates typed managed-object classes from the newest of the given
/// versions of a model, and embeds that version.
package struct ClassCommand {
  private static let usage = """
    usage: graph-generate MODEL.json… --output FILE.swift
           graph-generate convert MODEL [--output DIR] [--name NAME]
      MODEL.json   the versions of a model; the classes are those of the newest
      convert      makes model files of a Core Data model; graph-generate convert --help describes it
    """

  private let models: [String]
  private let output: String

  /// Ends the program if the arguments are not those of the command.
  package init(_ arguments: some Sequence<String>) {
    var arguments = Array(arguments)
    if arguments.contains("--help") || arguments.contains("-h") {
      print(Self.usage)
      exit(0)
    }
    guard let flag = arguments.firstIndex(of: "--output"), flag + 1 < arguments.count else {
      fail("no --output FILE.swift was given\n\(Self.usage)")
    }
    output = arguments[flag + 1]
    arguments.removeSubrange(flag...(flag + 1))
    models = arguments
  }

  /// Writes the file, or ends the program with the mistakes of a model.
  package func run() {
    var newest: Model?
    for path in models {
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
  }
}
