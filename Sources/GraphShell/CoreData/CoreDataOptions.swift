import ArgumentParser
import CoreDataStore
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The options of `graph import` for a Core Data store.
struct CoreDataOptions: ParsableArguments {
  @Flag(name: .customLong("core-data"), help: "The file is a Core Data store, with its -wal beside it.")
  var isCoreData = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --core-data: the file that records which row became which object; default: the store's name with "
        + ".import.jsonl.", valueName: "file"))
  var mapping: String?
  @Flag(help: "With --core-data: also delete the objects of rows that the app has deleted since the last import.")
  var delete = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("With --core-data: commit at most this many rows at once.", valueName: "count"))
  var batch: Int?
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "With --core-data: the name in the app, if an entity or a property has another name in the model: "
        + "Person.identifier=id. May be repeated.",
      valueName: "entity.property=name"))
  var rename: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "With --core-data: an attribute of bytes that the app keeps without the tag of external storage. May be repeated.",
      valueName: "entity.attribute"))
  var untagged: [String] = []

  @Flag(
    help: ArgumentHelp(
      "With --core-data: print the model that the store contains, in the format of an .xcdatamodel, and import nothing."
    ))
  var printModel = false

  private static let usualBatch = 1_000

  func check(_ file: String) throws {
    guard isCoreData else {
      if mapping != nil || delete || batch != nil || !rename.isEmpty || !untagged.isEmpty || printModel {
        throw ValidationError(
          "--mapping, --delete, --batch, --rename, --untagged and --print-model require --core-data")
      }
      return
    }
    if file == "-" { throw ValidationError("--core-data requires a file: a store can't be read from standard input") }
    if let batch, !(1...10_000).contains(batch) { throw ValidationError("--batch must be from 1 to 10000") }
    _ = try names()
  }

  /// The names in the app by the names in the model.
  private func names() throws -> [String: String] {
    var names = [String: String]()
    for word in rename {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
        throw ValidationError("\"\(word)\" is not of the form entity=name or entity.property=name")
      }
      names[String(parts[0])] = String(parts[1])
    }
    return names
  }

  @MainActor
  func run(_ file: String, _ options: CommonOptions) async throws {
    // Reads the store first, so that a mistake about the file needs no daemon.
    let store = try CoreDataFile(file)
    if printModel {
      guard let model = store.model else {
        throw Refusal(.notFound, "\(file) does not contain its model; convert the .xcdatamodeld of the app instead")
      }
      return CommandFailure.printed(model.contents)
    }
    try await options.withGraph { shell in
      let progress = ProgressLine(isShown: isatty(2) == 1 && !shell.output.json, interrupted: Interruption.runAgain)
      defer { progress.end() }
      let layout = try StoreLayout(store, shell.model, names: try names(), untagged: Set(untagged))
      let path = mapping ?? file + ".import.jsonl"
      let record = try ImportMappingFile(path, source: store.uuid, target: shell.head.store)
      let importer = try CoreDataImporter(
        shell, SourceReader(store, layout), record, batch: batch ?? Self.usualBatch, deletes: delete, progress: progress
      )
      let report = try await importer.run()
      show(report, layout.remarks, path, shell.output)
    }
  }

  @MainActor
  private func show(_ report: ImportReport, _ remarks: [StoreLayout.Remark], _ path: String, _ output: Output) {
    if output.json {
      let remarks = remarks.map { remark in
        JSON.object([
          .init("subject", .string(remark.subject)), .init("reason", .string(remark.reason)),
          .init("count", .integer(Int64(remark.count))),
        ])
      }
      return output.print(
        JSON.object(report.members + [.init("remarks", .array(remarks)), .init("mapping", .string(path))]))
    }
    let lines = remarks.map { remark in
      "\(remark.subject): \(remark.reason)" + (remark.count > 0 ? " (\(remark.count))" : "")
    }
    // Reasons quote the store, whose control characters must not reach the terminal.
    for line in lines + report.lines { output.print(TextTable.visible(line)) }
    output.print(report.summary)
    if report.kept > 0 {
      output.print(
        "\(Output.count(report.kept, "row")) no longer in the store: the objects stay; --delete deletes them")
    }
    if report.overwritten > 0 {
      output.print("\(Output.count(report.overwritten, "value")) that others had changed were overwritten")
    }
    output.print("the mapping is \(path)")
  }
}
