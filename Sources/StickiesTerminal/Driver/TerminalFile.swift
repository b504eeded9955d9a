import TerminalCells

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal as a file of this program.
///
/// It is opened separately instead of using standard input: that shares its open file description with the shell, so
/// O_NONBLOCK would apply to the shell too, and remain after a crash.
struct TerminalFile: Sendable {
  let descriptor: CInt
  /// The termios before any change.
  let saved: termios

  /// Opens `path` and saves its termios, without changing anything.
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

  /// Sets raw mode: keys arrive one by one, without echo, and Ctrl-C is a key like any other.
  func makeRaw() {
    var raw = saved
    cfmakeraw(&raw)
    // A read returns what is there; `poll` does the waiting.
    withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
      bytes[Int(VMIN)] = 0
      bytes[Int(VTIME)] = 0
    }
    tcsetattr(descriptor, TCSANOW, &raw)
  }

  /// Restores the termios. Pending input is dropped, so that no mouse report reaches the shell. Does not wait for
  /// output to drain, because the terminal may have stopped reading.
  func restoreLine() {
    var saved = saved
    dropInput()
    tcsetattr(descriptor, TCSANOW, &saved)
  }

  /// Drops pending input.
  func dropInput() { tcflush(descriptor, TCIFLUSH) }

  /// Whether the terminal was closed.
  var isClosed: Bool {
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&state, 1, 0) > 0
  }

  /// Columns and rows; 80 by 24 if the terminal does not know.
  var size: Size {
    var window = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
      return Size(width: 80, height: 24)
    }
    return Size(width: Int(window.ws_col), height: Int(window.ws_row))
  }

  /// Reads the available bytes into `buffer`.
  func read(into buffer: inout [UInt8]) -> Transfer {
    buffer.withUnsafeMutableBytes { Transfer(readBytes(descriptor, $0.baseAddress, $0.count)) }
  }

  /// Writes as much as the terminal accepts now.
  func write(_ bytes: ArraySlice<UInt8>) -> Transfer {
    bytes.withUnsafeBytes { Transfer(writeBytes(descriptor, $0.baseAddress, $0.count)) }
  }

  /// Writes all bytes, unless the terminal takes longer than the limit.
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

  /// The result of a read or a write.
  enum Transfer {
    case bytes(Int)
    case wouldBlock
    /// The terminal was closed.
    case over

    init(_ count: Int) {
      if count > 0 {
        self = .bytes(count)
      } else if count < 0, errno == EAGAIN || errno == EINTR {
        self = .wouldBlock
      } else {
        // With VMIN 0, a read without input can return 0 bytes; `poll` detects a closed terminal.
        self = count == 0 ? .wouldBlock : .over
      }
    }
  }
}

/// The reason why there is no terminal to draw on.
public enum TerminalError: Error, Hashable, CustomStringConvertible {
  /// The file could not be opened, or is not a terminal.
  case notATerminal(path: String, errno: CInt)
  /// A second driver was started while one runs; they would overwrite each other's terminal state.
  case alreadyRunning

  public var description: String {
    switch self {
    case .notATerminal(let path, let reason):
      "There is no terminal at \(path) (\(String(cString: strerror(reason)))). Run this in a terminal window, without "
        + "a pipe or a service around it."
    case .alreadyRunning: "This program already uses a terminal."
    }
  }
}

/// `read` of the C library, which a method hides.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}

/// `write` of the C library, which a method hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
