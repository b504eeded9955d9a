import Foundation
import Testing

/// `stickies` at a terminal: its standard input and standard error are one, so it asks questions.
enum PseudoTerminal {
  /// `TIOCSPTLCK` and `TIOCGPTN`.
  private static let (unlock, tellNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  /// - Parameters:
  ///   - typing: what is typed before the program reads; "\u{4}" is Ctrl-D.
  ///   - environment: variables besides those that tests have.
  static func run(
    _ arguments: [String], typing: String, _ daemon: Daemon, environment: [String: String] = [:]
  ) throws -> Daemon.Result {
    // The terminal is opened step by step, because Glibc's module lacks the functions of pty.h.
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(master >= 0)
    let mine = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    var (number, isLocked): (CInt, CInt) = (0, 0)
    try #require(ioctl(master, unlock, &isLocked) == 0 && ioctl(master, tellNumber, &number) == 0)
    let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(slave >= 0)
    let theirs = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    let output = Pipe()
    let process = Process()
    process.executableURL = Daemon.binary("stickies")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging([
      "STICKIES_SERVER": daemon.socket.description, "STICKIES_AUTHOR": "ann@test", "NO_COLOR": "1",
    ]) { $1 }.merging(environment) { $1 }
    process.standardInput = theirs
    process.standardError = theirs
    process.standardOutput = output
    try process.run()
    try theirs.close()
    try mine.write(contentsOf: Data(typing.utf8))
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Daemon.Result(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self), errors: rest(of: master))
  }

  /// The terminal's contents, including what was typed. After the last process has closed the other end, there is an
  /// error instead of an end.
  private static func rest(of master: Int32) -> String {
    var (shown, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
    while case let count = read(master, &buffer, buffer.count), count > 0 { shown += buffer[..<count] }
    return String(decoding: shown, as: UTF8.self)
  }
}
