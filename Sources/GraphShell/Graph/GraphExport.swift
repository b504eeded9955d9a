import CommandLineIO
import ArgumentParser
import GraphClient
import GraphJSON
import GraphModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

struct GraphExport: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the whole graph as JSON Lines, to restore it with graph import.",
    discussion: """
      The lines have all objects of one revision, with their ids and all of their values. The same graph always \
      produces the same lines. If objects are damaged, the others go to FILE.incomplete, which can't be imported as it \
      is; FILE stays as it was, and the exit code is 1.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "The file to write; default, or -: standard output.")
  var file: String?
  @Flag(help: "Replace the file if it is an earlier export.")
  var replace = false

  @MainActor
  func run() async throws {
    // The same as in import.
    let file = self.file == "-" ? nil : self.file
    try await options.withGraph { shell in
      let progress = ProgressLine(isShown: isatty(2) == 1 && !shell.output.json && file != nil)
      defer { progress.end() }
      let target = try ExportTarget(file, replaces: replace)
      let interruption = target.draft.map { Interruption("nothing is exported", removing: $0) }
      defer {
        withExtendedLifetime(interruption) {}
        target.discard()
      }
      let graph = try await shell.client.exportGraph(omitsDamage: true)
      var lines = GraphFile(model: shell.model)
      try target.write(lines.head(revision: graph.at.revision, objects: graph.count))
      while let objects = try await graph.next() {
        var text = ""
        for object in objects { text += try lines.line(object) }
        try target.write(text)
        progress.show("\(lines.count) of \(graph.count) objects")
      }
      try target.write(lines.end())
      try target.finish(isComplete: graph.damage.isEmpty)
      progress.end()
      if file != nil, !graph.damage.isEmpty {
        let incomplete = TextTable.visible(target.incomplete)
        StandardError.write("\(incomplete) has the other \(Output.count(lines.count, "object"))")
      }
      try IncompleteResult.check(graph.damage, shell.model)
      guard let file else { return }
      if shell.output.json {
        shell.output.print(
          JSON.object([
            .init("file", .string(file)), .init("objects", .integer(Int64(lines.count))),
            .init("revision", .integer(graph.at.revision)),
          ]))
      } else {
        let name = TextTable.visible(file)
        shell.output.print("\(name): \(Output.count(lines.count, "object")) at revision \(graph.at.revision)")
      }
    }
  }
}

struct GraphImport: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "import",
      abstract: "Import a file of graph export into a store without commits, or a Core Data store.",
      usage: """
        \(RunningProgram.current.name) graph import [<options>] <file>
        \(RunningProgram.current.name) graph import [<options>] --core-data <file> [--mapping <file>] [--delete]
        """,
      discussion: """
        Objects of an export keep their ids and all of their values. The import is one commit: if it fails, nothing is \
        imported. With --core-data the file is the SQLite store of an app, which is only read; the daemon must \
        serve the app's model. A mapping file records which row became which object, so that a second run imports only \
        what has changed. Rows that cannot be imported are listed.
        """)
  }

  @OptionGroup var options: CommonOptions
  @Argument(help: "The file; - is standard input.")
  var file: String
  @OptionGroup var coreData: CoreDataOptions

  func validate() throws { try coreData.check(file) }

  @MainActor
  func run() async throws {
    if coreData.isCoreData { return try await coreData.run(file, options) }
    let descriptor = file == "-" ? 0 : open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Refusal(.notFound, "\(file) can't be read (\(String(cString: strerror(errno))))")
    }
    try await options.withGraph { shell in
      let progress = ProgressLine(
        isShown: isatty(2) == 1 && !shell.output.json, interrupted: Interruption.allOrNothing)
      defer { progress.end() }
      let lines = try await ExportReader(LineReader(descriptor: descriptor), shell.model)
      do {
        let objects = AsyncThrowingStream(unfolding: { try await lines.next() })
        let saved = try await shell.client.importGraph(objects) { step in
          let isSending = step.total == 0
          progress.show(isSending ? "\(step.done) objects sent" : "\(step.done * 100 / max(1, step.total)) % written")
        }
        progress.end()
        if shell.output.json {
          shell.output.print(
            JSON.object([
              .init("objects", .integer(lines.count)), .init("revision", .integer(saved.committed.revision)),
            ]))
        } else {
          shell.output.print("imported \(Output.count(Int(lines.count), "object")) in one commit")
        }
      } catch let refusal as Refusal {
        progress.end()
        var places = [ObjectID: Int]()
        for id in refusal.violations.map(\.id) + refusal.conflicts.map(\.id) {
          if let line = lines.line(of: id) { places[id] = line }
        }
        var explained = await RefusalExplainer(shell).explained(refusal.namingLines(places, shell.model))
        explained.lines = places
        explained.done = "nothing is imported"
        throw explained
      }
    }
  }
}

extension Refusal {
  /// Replaces the holder of a taken unique key by its line, if it is a line of the file, too. Each such conflict
  /// belongs to a violation, in order.
  fileprivate func namingLines(_ lines: [ObjectID: Int], _ model: Model) -> Refusal {
    var named = self
    let clashes = violations.indices.filter { violations[$0].commonRule == .unique && violations[$0].property != 0 }
    for (place, conflict) in zip(clashes, conflicts) {
      guard let line = lines[conflict.id] else { continue }
      let violation = violations[place]
      let keys = ([violation.property] + violation.others.map(\.property)).compactMap { model.property($0)?.name }
      let message = "line \(line) has the same \(keys.joined(separator: " and "))"
      // The refusal's message begins with the first violation.
      if place == 0 { named.message = named.message.replacing(violation.message, with: message) }
      named.violations[place].message = message
    }
    return named
  }
}

/// The destination of an export: standard output or a file. The file gets its name only when it is complete.
private final class ExportTarget {
  private let name: String?
  /// The file with symbolic links resolved.
  private let file: String
  /// The temporary file; nil for standard output.
  let draft: String?
  /// The name of an export without damaged objects.
  var incomplete: String { file + ".incomplete" }
  private var descriptor: Int32 = 1

  init(_ name: String?, replaces: Bool) throws {
    self.name = name
    guard let name else {
      (file, draft) = ("", nil)
      return
    }
    file = try Self.file(name, replaces: replaces)
    let draft = file + ".partial"
    self.draft = draft
    descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if descriptor < 0 { throw failure() }
    guard Self.kind(descriptor) == S_IFREG else {
      close(descriptor)
      descriptor = -1
      throw ProgramRefusal("\(draft) exists and is not a regular file; the export needs that name")
    }
  }

  private static func file(_ name: String, replaces: Bool) throws -> String {
    if name.isEmpty { throw Refusal(.malformed, "the file name is empty; leave it out for standard output") }
    // SQLite would read a file of such a name as the log of the database beside it.
    for suffix in ["-wal", "-shm", "-journal"] where name.hasSuffix(suffix) {
      guard isDatabase(String(name.dropLast(suffix.count))) else { continue }
      throw ProgramRefusal("\(name) belongs to the SQLite database beside it; give another name")
    }
    var status = stat()
    guard stat(name, &status) == 0 else {
      guard lstat(name, &status) == 0 else { return name }
      throw ProgramRefusal("\(name) is a link to a missing file")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw ProgramRefusal("\(name) is a folder; give the name of a file in it")
    default:
      throw ProgramRefusal(
        "\(name) is a device, a socket or a pipe, not a file; without FILE the lines go to standard output")
    }
    guard replaces else { throw ProgramRefusal("\(name) already exists; --replace replaces it") }
    guard status.st_size == 0 || begins(name, with: "{\"$graph\"") else {
      throw ProgramRefusal("\(name) is not an export and is not replaced; remove it, or give another name")
    }
    guard let real = realpath(name, nil) else { return name }
    defer { free(real) }
    return String(cString: real)
  }

  private static func isDatabase(_ name: String) -> Bool { begins(name, with: "SQLite format 3\0") }

  private static func begins(_ name: String, with text: String) -> Bool {
    let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let mark = Array(text.utf8)
    var bytes = [UInt8](repeating: 0, count: mark.count)
    return read(descriptor, &bytes, bytes.count) == bytes.count && bytes == mark
  }

  private static func kind(_ descriptor: Int32) -> mode_t {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
  }

  private func failure() -> Refusal {
    Refusal(.unavailable, "\(name ?? "standard output") can't be written (\(String(cString: strerror(errno))))")
  }

  func write(_ text: String) throws {
    assert(descriptor >= 0, "an export is written before it is finished or discarded")
    let code = Descriptor.write(text, to: descriptor)
    if code != 0 {
      errno = code
      throw failure()
    }
  }

  /// - Parameter isComplete: whether the file gets its name. An export that lacks objects never replaces another one.
  func finish(isComplete: Bool) throws {
    guard let draft else { return }
    precondition(descriptor >= 0, "an export is finished once")
    guard fsync(descriptor) == 0, rename(draft, isComplete ? file : incomplete) == 0 else { throw failure() }
    close(descriptor)
    descriptor = -1
    // Makes the rename durable.
    let folder = open(URL(filePath: file).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// Removes an unfinished export.
  func discard() {
    guard let draft, descriptor >= 0 else { return }
    close(descriptor)
    unlink(draft)
  }
}

/// Reads the lines of an export and verifies them. When it returns nil after the last line, the file is complete.
@MainActor
private final class ExportReader {
  private let reader: LineReader
  private var file: GraphFile
  private let promised: Int64
  /// Offsets between row and line numbers, each from a row on, because blank lines are skipped.
  private var shifts = [(row: 0, shift: 1)]
  private var isAtEnd = false

  var count: Int64 { Int64(file.count) }

  private static let nothingDone = "nothing is imported"

  init(_ reader: LineReader, _ model: Model) async throws {
    self.reader = reader
    file = GraphFile(model: model)
    guard let head = try await reader.next() else { throw Refusal(.invalid, "the file is empty") }
    promised = try head.reporting(done: Self.nothingDone) { [file] () throws(InvalidInputError) in
      try file.readHead(head)
    }
  }

  /// The line of an imported object; nil for any other object that a refusal names.
  func line(of id: ObjectID) -> Int? {
    guard id.isTemporary, let row = Int(exactly: id.key.low), row >= 1, row <= file.count,
      let last = shifts.last(where: { $0.row <= row })
    else { return nil }
    return row + last.shift
  }

  func next() async throws -> ObjectImage? {
    if isAtEnd { return nil }
    guard let line = try await reader.next() else {
      throw Refusal(
        .invalid, "the file ends after \(file.count) of \(promised) objects: it is not complete")
    }
    let row = file.count + 1
    assert(line.number > row, "the head and the earlier objects have a line each")
    if line.number - row != shifts.last?.shift { shifts.append((row, line.number - row)) }
    guard let object = try await object(line) else {
      isAtEnd = true
      if let more = try await reader.next() {
        try more.reporting(done: Self.nothingDone) { () throws(InvalidInputError) in
          throw InvalidInputError("there is more after the end")
        }
      }
      return nil
    }
    return object
  }

  /// The object of a line. If the line has a mistake, collects its other mistakes and those of the following lines,
  /// up to a limit.
  private func object(_ line: InputLine) async throws -> ObjectImage? {
    var mistakes = [LinePlanner.InvalidLine]()
    func read(_ line: InputLine) -> ObjectImage? {
      var members = [InvalidInputError]()
      var object: ObjectImage?
      do throws(InvalidInputError) {
        object = try file.read(line, of: promised, &members)
      } catch {
        members.append(error)
      }
      mistakes += members.map { LinePlanner.InvalidLine(line: line.number, reason: $0.description) }
      return object
    }
    let object = read(line)
    if mistakes.isEmpty { return object }
    while mistakes.count < Batch.maximumViolations, let line = try await reader.next() {
      // The last line is not read: its count would be wrong, because lines with mistakes were not counted.
      if !GraphFile.isEnd(line) { _ = read(line) }
    }
    throw InvalidLinesError(mistakes: Array(mistakes.prefix(Batch.maximumViolations)), done: Self.nothingDone)
  }
}
