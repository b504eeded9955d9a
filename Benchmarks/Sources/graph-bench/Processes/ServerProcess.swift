import CLoad
import Foundation

/// A child process that ends with this one, even after a crash.
final class ServerProcess {
  let id: pid_t
  /// The read end of its standard output; -1 if the output is not read.
  private let output: Int32
  private var unread = [UInt8]()
  private var hasEnded = false
  /// The status of `waitpid`; 0 for a successful end and before the end.
  private(set) var status: Int32 = 0
  let startedAt: Double

  init(_ program: String, _ arguments: [String], readsOutput: Bool = true) throws {
    var words = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var output: Int32 = -1
    startedAt = now()
    id = readsOutput ? load_spawn(words, &output) : load_spawn(words, nil)
    self.output = output
    guard id > 0 else { throw BenchmarkError(description: "\(program) can't be started") }
  }

  /// Starts this program in one of its modes.
  convenience init(mode arguments: [String]) throws {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    guard count > 0 else { throw BenchmarkError(description: "this program can't be found") }
    try self.init(String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self), arguments)
  }

  /// Returns the next line of its output.
  func line(timeoutSeconds: Double = 60) throws -> String {
    let deadline = now() + timeoutSeconds
    while true {
      if let newline = unread.firstIndex(of: 10) {
        defer { unread.removeSubrange(...newline) }
        return String(decoding: unread[..<newline], as: UTF8.self)
      }
      var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, Int32(max(0, deadline - now()) * 1_000)) == 1 else {
        throw BenchmarkError(description: "process \(id) says nothing")
      }
      var part = [UInt8](repeating: 0, count: 4_096)
      let count = read(output, &part, part.count)
      guard count > 0 else { throw BenchmarkError(description: "process \(id) ended early") }
      unread += part[..<count]
    }
  }

  /// Waits for its end; kills it after the timeout.
  func wait(timeoutSeconds: Double = 30) {
    guard !hasEnded else { return }
    let deadline = now() + timeoutSeconds
    // The runtime of a short command is itself measured, so the pause must be too short to affect it.
    while waitpid(id, &status, WNOHANG) == 0 {
      if now() > deadline { Foundation.kill(id, SIGKILL) }
      usleep(200)
    }
    hasEnded = true
    if output >= 0 { close(output) }
  }

  /// Requests its end with a signal, and waits.
  func stop(with signal: Int32 = SIGTERM) { end(signal) }

  /// Kills it with SIGKILL.
  func kill() { end(SIGKILL) }

  private func end(_ signal: Int32) {
    guard !hasEnded else { return }
    Foundation.kill(id, signal)
    wait()
  }

  deinit { end(SIGKILL) }
}

/// Repeats the body until it succeeds, for servers that do not report when they are ready.
func retry<Value>(seconds: Double = 10, _ body: () throws -> Value) throws -> Value {
  let deadline = now() + seconds
  while true {
    do { return try body() } catch {
      if now() > deadline { throw error }
      usleep(10_000)
    }
  }
}
