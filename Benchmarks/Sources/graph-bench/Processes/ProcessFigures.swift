import Foundation

/// The kernel's figures for a process.
extension ServerProcess {
  /// Returns VmRSS or VmHWM, in kilobytes.
  func memory(_ field: String) -> Double { ProcessFigures.value(of: field, in: "/proc/\(id)/status") }

  /// The proportional memory in kilobytes: private pages, and shared ones divided by their users.
  var proportionalMemory: Double { ProcessFigures.value(of: "Pss", in: "/proc/\(id)/smaps_rollup") }

  /// Resets VmHWM.
  func forgetPeak() throws { try ProcessFigures.forgetPeak(id) }

  /// The processor time of its current threads, in seconds; from nanoseconds, because utime and stime have ticks of
  /// 10 ms.
  var processorSeconds: Double { threadSeconds.values.reduce(0, +) }

  /// The processor time of each current thread, in seconds.
  var threadSeconds: [String: Double] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
    return threads.reduce(into: [:]) { seconds, thread in
      let text = ProcessFigures.text("/proc/\(id)/task/\(thread)/schedstat")
      seconds[thread] = (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }
  }

  /// The bytes that it caused to be written to the disk, including checkpoints.
  var bytesWritten: Double { ProcessFigures.value(of: "write_bytes", in: "/proc/\(id)/io") }
}

enum ProcessFigures {
  /// Reads a file in /proc to its end; such files have no size.
  static func text(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var text = [UInt8]()
    var part = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(file, &part, part.count)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += part[..<count]
    }
  }

  /// Returns the number after `field:`.
  static func value(of field: String, in path: String) -> Double {
    for line in text(path).split(separator: "\n") where line.hasPrefix(field + ":") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == ":" })
      return words.count > 1 ? Double(words[1]) ?? .nan : .nan
    }
    return .nan
  }

  static func forgetPeak(_ process: pid_t) throws {
    let file = open("/proc/\(process)/clear_refs", O_WRONLY | O_CLOEXEC)
    defer { close(file) }
    guard file >= 0, write(file, "5", 1) == 1 else {
      throw BenchmarkError(description: "the peak of process \(process) can't be reset")
    }
  }
}

/// Counts the frames of SQLite's write-ahead log from its index, without involving the daemon.
final class WriteAheadLogFrames {
  private struct State {
    /// `mxFrame` of the index's header: the frames since the log's last restart.
    var frames: UInt32
    /// The first part of the log's salt, which each restart changes.
    var salt: UInt32
  }

  private let file: Int32
  private var last: State

  /// - Parameter data: the data directory of a daemon that has committed something.
  init(data: String) throws {
    file = open(data + "/graph.sqlite-shm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw BenchmarkError(description: "the store in \(data) has no write-ahead log") }
    last = Self.read(file)
  }

  private static func read(_ file: Int32) -> State {
    var state = State(frames: 0, salt: 0)
    _ = pread(file, &state.frames, 4, 16)
    _ = pread(file, &state.salt, 4, 32)
    return state
  }

  /// Returns the pages written since the last call; `restarted` if the log has restarted, as after a finished
  /// checkpoint.
  func advance() -> (pages: Int, restarted: Bool) {
    let state = Self.read(file)
    defer { last = state }
    let restarted = state.salt != last.salt
    return (Int(restarted ? state.frames : state.frames - min(last.frames, state.frames)), restarted)
  }

  /// The frames since the last restart, as of the last call of `advance`.
  var frames: Int { Int(last.frames) }

  deinit { close(file) }
}
