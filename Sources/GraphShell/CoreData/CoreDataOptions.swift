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
      "With --core-data: the name in the app, or at an earlier import, if an entity or a property has another name in the "
        + "model: Person.identifier=id. May be repeated.",
      valueName: "entity.property=name"))
  var rename: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "With --core-data: an attribute of bytes that the app keeps without the tag of external storage. May be repeated.",
      valueName: "entity.attribute"))
  var untagged: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "With --core-data: an attribute of bytes that the app keeps with the tag of external storage. May be repeated.",
      valueName: "entity.attribute"))
  var tagged: [String] = []
  @Flag(help: "With --core-data: also import rows again whose objects were deleted in the graph since the last import.")
  var again = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --core-data: a new file for all rows and values that were not taken, a line of JSON for each.",
      valueName: "file"))
  var report: String?

  @Flag(
    help: ArgumentHelp(
      "With --core-data: print the model that the store contains, in the format of an .xcdatamodel, and import nothing."
    ))
  var printModel = false

  private static let usualBatch = 1_000

  func check(_ file: String) throws {
    guard isCoreData else {
      if mapping != nil || delete || again || batch != nil || report != nil || printModel
        || !(rename + untagged + tagged).isEmpty
      {
        throw ValidationError(
          "--mapping, --delete, --again, --batch, --report, --rename, --tagged, --untagged and --print-model require "
            + "--core-data")
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
        if store.isModelUnreadable {
          throw Refusal(
            .invalid,
            "\(file) contains its model in a form that can't be read; convert the .xcdatamodeld of the app instead")
        }
        throw Refusal(.notFound, "\(file) does not contain its model; convert the .xcdatamodeld of the app instead")
      }
      return CommandFailure.printed(model.contents)
    }
    try await options.withGraph { shell in
      let progress = ProgressLine(isShown: isatty(2) == 1 && !shell.output.json, interrupted: Interruption.runAgain)
      defer { progress.end() }
      let path = mapping ?? file + ".import.jsonl"
      let target = shell.head.store
      func openMapping() throws -> ImportMappingFile {
        try ImportMappingFile(path, source: store.uuid, target: target)
      }
      // A mapping has decisions about the store. A mistake about the model leaves no empty one.
      let existing = access(path, F_OK) == 0 ? try openMapping() : nil
      let earlier: StoreLayout.Decisions = if let existing { existing.mapping.decisions } else { .init() }
      let layout = try StoreLayout(
        store, shell.model, names: try names(), untagged: Set(untagged), tagged: Set(tagged), earlier: earlier)
      let list = try report.map { try ReportFile($0) }
      let record = try existing ?? openMapping()
      if layout.decisions != earlier { try record.record([.decided(layout.decisions)]) }
      let importer = try CoreDataImporter(
        shell, SourceReader(store, layout), record, batch: batch ?? Self.usualBatch, deletes: delete, again: again,
        progress: progress)
      var report: ImportReport
      do {
        report = try await importer.run()
      } catch let refusal as Refusal {
        throw CoreDataImporter.repeatable(refusal)
      }
      report.remarks = layout.remarks + report.remarks + report.keyRemarks
      try list?.write(report.entries)
      show(report, path, shell.output)
    }
  }

  @MainActor
  private func show(_ report: ImportReport, _ path: String, _ output: Output) {
    if output.json {
      let remarks = report.remarks.map { remark in
        JSON.object([
          .init("subject", .string(remark.subject)), .init("reason", .string(remark.reason)),
          .init("count", .integer(Int64(remark.count))),
        ])
      }
      return output.print(
        JSON.object(report.members + [.init("remarks", .array(remarks)), .init("mapping", .string(path))]))
    }
    let lines = report.remarks.map { remark in
      "\(remark.subject): \(remark.reason)" + (remark.count > 0 ? " (\(remark.count))" : "")
    }
    // Reasons quote the store, whose control characters must not reach the terminal.
    for line in lines + report.lines { output.print(TextTable.visible(line)) }
    output.print(report.summary)
    func sentence(_ count: Int, _ noun: String, one: String, several: String) {
      if count > 0 { output.print("\(Output.count(count, noun)) \(count == 1 ? one : several)") }
    }
    sentence(
      report.kept, "row", one: "no longer in the store: the object stays; --delete deletes it",
      several: "no longer in the store: the objects stay; --delete deletes them")
    sentence(
      report.absent, "row", one: "whose object was deleted in the graph since; --again imports it again",
      several: "whose objects were deleted in the graph since; --again imports them again")
    sentence(
      report.yielded, "value", one: "stays as another client has set it in the graph",
      several: "stay as others have set them in the graph")
    sentence(
      report.overwritten, "value", one: "that another client had changed was overwritten",
      several: "that others had changed were overwritten")
    output.print("the mapping is \(TextTable.visible(path))")
  }
}
