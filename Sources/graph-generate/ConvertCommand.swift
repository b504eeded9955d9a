import CoreDataModels
import Foundation
import ModelClasses

/// `graph-generate convert App.xcdatamodeld` writes the model files of a Core Data model and prints every difference.
struct ConvertCommand {
  private static let usage = """
    usage: graph-generate convert MODEL [--output DIR] [--name NAME] [--versions A,B,...]
      MODEL   an .xcdatamodeld, an .xcdatamodel, or a file contents
      DIR     the folder of the model files; by default Schema/NAME
      NAME    the name of the model; by default that of MODEL
      A,B,... the names of all versions, oldest first; needed if numbers in the names do not give the order
    """

  private var path: String?
  private var output: String?
  private var name: String?
  private var order: [String]?

  init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--output", "--name", "--versions":
        guard let value = rest.popFirst(), !value.isEmpty else { fail("\(argument) needs a value\n\(Self.usage)") }
        switch argument {
        case "--output": output = value
        case "--name": name = value
        default: order = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
      case "--help", "-h":
        print(Self.usage)
        exit(0)
      case let option where option.hasPrefix("-"): fail("unknown option \(option)\n\(Self.usage)")
      case let model:
        guard path == nil else { fail("give one model, and not \(model), too\n\(Self.usage)") }
        path = model
      }
    }
  }

  func run() {
    guard let path else { fail("no model was given\n\(Self.usage)") }
    let conversion: CoreDataConversion
    let folder: String
    do {
      let bundle = try CoreDataBundle.read(path)
      folder = if let output { output } else { "Schema/\(CoreDataConversion.convertedName(name ?? bundle.name))" }
      conversion = try CoreDataConversion(
        bundle, name: name, order: order, existing: Self.files(in: folder, bundle.versions.count))
    } catch {
      // The form of a compiler's messages, so that editors show them in the file.
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
    precondition(!conversion.versions.isEmpty, "a model has a version")
    let kept = write(conversion, to: folder)
    for finding in conversion.findings { print(finding) }
    for file in kept {
      print(
        "\(file) stays as it is: the converted one differs in parts that no store depends on, such as rules, defaults and "
          + "documentation; delete the file to replace it")
    }
    for version in conversion.versions { print(summary(of: version, in: folder)) }
    let count = conversion.findings.count
    print("\(count == 0 ? "no" : "\(count)") difference\(count == 1 ? "" : "s") from the Core Data model")
  }

  /// The contents of the model files in a folder, by version.
  private static func files(in folder: String, _ count: Int) -> [Int: [UInt8]] {
    var files = [Int: [UInt8]]()
    for number in 1...count {
      files[number] = FileManager.default.contents(atPath: "\(folder)/\(number).json").map { Array($0) }
    }
    return files
  }

  /// Writes all files, or none if one of them exists with another model, because a store may have been created with
  /// that file.
  /// - Returns: the files that exist, and whose differences no store depends on.
  private func write(_ conversion: CoreDataConversion, to folder: String) -> [String] {
    var (files, kept) = ([(path: String, data: Data)](), [String]())
    for version in conversion.versions {
      let path = "\(folder)/\(version.number).json"
      let data = Data(version.text.utf8)
      if !FileManager.default.fileExists(atPath: path) {
        files.append((path, data))
      } else if let existing = FileManager.default.contents(atPath: path), version.isStored(as: existing) {
        if existing != data { kept.append(path) }
      } else {
        fail(
          "\(path) exists and has other contents; a model file is never edited, so add a version for changes of "
            + "\(version.sourceName), or give --output another folder, or delete the file if there is no store of it")
      }
    }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for file in files { try file.data.write(to: URL(fileURLWithPath: file.path), options: .atomic) }
    } catch {
      fail("the model files can't be written to \(folder): \(error.localizedDescription)")
    }
    return kept
  }

  private func summary(of version: CoreDataConversion.Version, in folder: String) -> String {
    let properties = version.entities.flatMap(\.properties)
    let attributes = properties.count { $0.type != nil }
    let counts = [
      (version.entities.count, "entity", "entities"), (attributes, "attribute", "attributes"),
      (properties.count - attributes, "relationship", "relationships"),
    ]
    let words = counts.map { "\($0) \($0 == 1 ? $1 : $2)" }.joined(separator: ", ")
    let mark = version.isCurrent ? ", current" : ""
    return "\(folder)/\(version.number).json: \(version.sourceName), \(words)\(mark)"
  }
}
