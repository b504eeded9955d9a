import Glibc
import TerminalCells

/// The terminal as a file of this program's own.
///
/// It is opened anew, not taken from standard input: making that non-blocking would make the shell's non-blocking too, for both
/// share one open file, and a crash would leave it so.
struct TerminalFile: Sendable {
  let descriptor: CInt
  /// How the terminal's line was before.
  let saved: termios

  /// Opens `path` and remembers how its line is. Nothing is changed yet.
  init(path: String) throws(TerminalError) {
    let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw .notATerminal(path: path, errno: errno) }
    var saved = termios()
    guard tcgetattr(descriptor, &saved) == 0 else {
      let reason = errno
      close(descriptor)
      throw .notATerminal(path: path, errno: reason)
    }
    self.descriptor = descriptor
    self.saved = saved
  }

  /// Keys come one by one, unseen, and mean nothing to the line: Ctrl-C is a key like any other.
  func makeRaw() {
    var raw = saved
    cfmakeraw(&raw)
    // Bytes are read when there are any; what waits for them is `poll`.
    withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
      bytes[Int(VMIN)] = 0
      bytes[Int(VTIME)] = 0
    }
    tcsetattr(descriptor, TCSANOW, &raw)
  }

  /// The line as it was. What was typed for us and not read is dropped, so that no mouse report lands in the shell. It
  /// never waits for output to leave: the terminal may have stopped reading.
  func restoreLine() {
    var saved = saved
    dropInput()
    tcsetattr(descriptor, TCSANOW, &saved)
  }

  /// What was typed and not read is nobody's.
  func dropInput() { tcflush(descriptor, TCIFLUSH) }

  /// Columns and rows; 80 and 24 of a terminal that does not know.
  var size: Size {
    var window = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
      return Size(width: 80, height: 24)
    }
    return Size(width: Int(window.ws_col), height: Int(window.ws_row))
  }

  /// Reads what is there into `buffer`.
  func read(into buffer: inout [UInt8]) -> Transfer {
    buffer.withUnsafeMutableBytes { Transfer(Glibc.read(descriptor, $0.baseAddress, $0.count)) }
  }

  /// Writes as much as the terminal takes now.
  func write(_ bytes: ArraySlice<UInt8>) -> Transfer {
    bytes.withUnsafeBytes { Transfer(Glibc.write(descriptor, $0.baseAddress, $0.count)) }
  }

  /// Writes all of it, if the terminal takes it within a time.
  func write(_ bytes: [UInt8], withinMilliseconds: CInt) {
    var rest = bytes[...]
    var left = withinMilliseconds
    while !rest.isEmpty, left > 0 {
      switch write(rest) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock:
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wanted, 1, 10)
        left -= 10
      case .over: return
      }
    }
  }

  /// What a read or a write came to.
  enum Transfer {
    case bytes(Int)
    case wouldBlock
    /// The terminal is gone.
    case over

    init(_ count: Int) {
      if count > 0 {
        self = .bytes(count)
      } else if count < 0, errno == EAGAIN || errno == EINTR {
        self = .wouldBlock
      } else {
        // With VMIN 0 a read of a terminal without input may come to 0 bytes; whether it is gone, `poll` says.
        self = count == 0 ? .wouldBlock : .over
      }
    }
  }
}

/// Why there is no terminal to draw on.
public enum TerminalError: Error, Hashable, CustomStringConvertible {
  /// The file could not be opened, or is no terminal.
  case notATerminal(path: String, errno: CInt)
  /// A second driver was started while one runs: they would restore each other's terminal.
  case alreadyRunning

  public var description: String {
    switch self {
    case .notATerminal(let path, let reason):
      "There is no terminal at \(path) (\(String(cString: strerror(reason)))). Run this in a terminal window, without "
        + "a pipe or a service around it."
    case .alreadyRunning: "This program draws on a terminal already."
    }
  }
}
