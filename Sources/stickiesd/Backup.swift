import ArgumentParser
import CommandLineIO
import Dispatch
import Foundation
import GraphModel
import GraphStoreTools
import StickiesModel

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the store into one file, with or without a running daemon.",
    discussion: """
      The file holds one revision, even if clients commit meanwhile. It is named FILE.partial until it is on disk and \
      has passed the checks of "stickiesd check"; then it is renamed to FILE.
      """)

  @OptionGroup var store: StoreFlags

  @Argument(help: "The file to write.")
  var file: String

  @Flag(help: "Replace an existing file, after the new one is verified.")
  var replace = false

  @Option(
    help: ArgumentHelp("Copy at most this many MB per second; default: as fast as the disk.", valueName: "MB/s"))
  var throttle: Double?

  @Flag(help: "Print the result as one line of JSON.")
  var json = false

  func validate() throws {
    if file.isEmpty { throw ValidationError("the name of the backup is empty; name a file") }
    // Below this range a copy would take years, and above it the limit has no effect.
    if let throttle, !(0.001...1_000_000).contains(throttle) {
      throw ValidationError("--throttle takes megabytes per second, from 0.001 to 1000000")
    }
  }

  mutating func run() async throws {
    umask(0o077)
    // The daemon's clients have priority.
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    let (file, replace) = (file, replace)
    var pace = StoreBackup.CopyRate()
    pace.bytesPerSecond = throttle.map { Int($0 * 1_000_000) }
    let meter = ProgressMeter()
    let draft = StoreBackup.draft(of: file)
    let interrupted = InterruptSignal { unlink(draft) }
    defer { interrupted.cancel() }
    let begun = pace.monotonicNanoseconds()
    let report = try await StoreCommand.run(store, meter, json: json) { settings, model in
      try StoreBackup.run(
        directory: settings.data, model: model, file: file, replaces: replace, pace: pace, progress: meter.show)
    }
    let seconds = Double(pace.monotonicNanoseconds() - begun) / 1e9
    if json {
      Console.print(
        JSON.object([
          .init("file", .string(file)), .init("objects", .integer(Int64(report.objects))),
          .init("revision", .integer(report.head.revision)), .init("bytes", .integer(Int64(report.bytes))),
          .init("seconds", .double(seconds)), .init("verified", .bool(true)),
        ]).text)
    } else {
      Console.printLine(
        "\(file): \(counted(report.objects)) at revision \(report.head.revision), \(report.bytes) bytes, "
          + "\(seconds.formatted(1)) s, verified")
    }
  }
}

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Replace the store with a backup; the previous store is kept beside it.",
    discussion: """
      Stop the daemon first. The complete backup is verified before anything changes. The present store is renamed to \
      graph.sqlite.before-DATE in the same directory; it is never deleted automatically.
      """)

  @OptionGroup var store: StoreFlags

  @Argument(help: "The backup to restore.")
  var file: String

  @Flag(help: "Accept a backup of another store.")
  var other = false

  @Flag(help: "Print the result as one line of JSON.")
  var json = false

  mutating func run() async throws {
    umask(0o077)
    let (file, other) = (file, other)
    let meter = ProgressMeter()
    let report = try await StoreCommand.run(store, meter, on: file, json: json) { settings, model in
      try StoreRestore.run(
        file: file, directory: settings.data, model: model, stamp: Self.stamp(Date()), replacesOther: other,
        progress: meter.show)
    }
    if json {
      Console.print(
        JSON.object([
          .init("file", .string(file)), .init("objects", .integer(Int64(report.objects))),
          .init("revision", .integer(report.head.revision)), .init("bytes", .integer(Int64(report.bytes))),
          .init("previous", report.previous.map { .string($0) } ?? .null),
        ]).text)
    } else {
      Console.printLine("restored \(counted(report.objects)) at revision \(report.head.revision) from \(file)")
      if let previous = report.previous { Console.printLine("the previous store is now \(previous)") }
    }
  }

  /// A timestamp for file names, such as `20261121T205432Z`.
  private static func stamp(_ date: Date) -> String {
    date.ISO8601Format().filter { $0.isLetter || $0.isNumber }
  }
}

/// Shows progress in one line on a terminal; elsewhere prints only important messages.
final class ProgressMeter {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private var line = ""

  func show(_ progress: StoreBackup.Progress) {
    switch progress {
    case .copying(let bytes, let total):
      let percent = total == 0 ? 100 : bytes * 100 / total
      write("copying \(percent) % of \(megabytes(total)) MB")
    case .waiting: break
    case .checking: write("verifying")
    case .throttleLifted(let growth):
      end()
      emit(
        "the log has grown by \(megabytes(growth)) MB during the copy: the copy continues without --throttle, so that "
          + "the log can restart sooner\n")
    }
  }

  /// Clears the line.
  func end() {
    if !line.isEmpty { emit("\r\u{1B}[K") }
    line = ""
  }

  private func write(_ text: String) {
    guard isTerminal, text != line else { return }
    line = text
    emit("\r\u{1B}[K" + text)
  }

  private func emit(_ text: String) { StandardError.write(text, terminator: "") }

  private func megabytes(_ bytes: Int) -> String { (Double(bytes) / 1e6).formatted(1) }
}

/// Handles Ctrl-C, SIGTERM and a closed terminal by ending the program at once, even during a check.
struct InterruptSignal {
  private let sources: [any DispatchSourceSignal]

  init(_ cleanUp: @escaping @Sendable () -> Void) {
    // SIG_IGN is the pointer 1. nohup sets it, and the program then continues without its terminal.
    let isKept = unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self) == 1
    sources = ([SIGINT, SIGTERM] + (isKept ? [] : [SIGHUP])).map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        cleanUp()
        _exit(130)
      }
      source.resume()
      return source
    }
  }

  func cancel() { for source in sources { source.cancel() } }
}

private func counted(_ objects: Int) -> String { "\(objects) object\(objects == 1 ? "" : "s")" }

extension Double {
  fileprivate func formatted(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }
}
