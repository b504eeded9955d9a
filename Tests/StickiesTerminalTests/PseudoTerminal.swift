import Foundation
import Synchronization

/// The other end of a terminal, with the contents of its window. A thread of its own reads it, unless a test turns that
/// off.
final class PseudoTerminal: Sendable {
  struct Failure: Error {
    let waitedFor: String
    let got: String
  }

  private struct State {
    var bytes: [UInt8] = []
    var count = 0
    var isReading = true
    var isHungUp = false
    var waiter: (text: [UInt8], continuation: CheckedContinuation<Void, Never>)?
  }

  let path: String
  private let master: CInt
  private let state = Mutex(State())

  init() throws {
    // Linux's own way: Glibc's module has none of `posix_openpt` and its like.
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var number: CInt = 0
    var lock: CInt = 0
    guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
      throw Failure(waitedFor: "a pseudo-terminal", got: String(cString: strerror(errno)))
    }
    self.master = master
    path = "/dev/pts/\(number)"
    var window = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &window)
    Thread.detachNewThread { self.run() }
  }

  /// The flags of its line.
  var line: [UInt32] {
    var line = termios()
    tcgetattr(master, &line)
    return [line.c_iflag, line.c_oflag, line.c_cflag, line.c_lflag]
  }

  var isReading: Bool {
    get { state.withLock { $0.isReading } }
    set { state.withLock { $0.isReading = newValue } }
  }

  /// Bytes that came in all.
  var count: Int { state.withLock { $0.count } }

  func types(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
  }

  func hangUp() { state.withLock { $0.isHungUp = true } }

  /// Waits until a text has arrived. Output after that text is kept for the next wait.
  func reads(_ text: String) async throws {
    await withCheckedContinuation { continuation in
      state.withLock {
        $0.waiter = (Array(text.utf8), continuation)
        Self.look(&$0)
      }
    }
  }

  private static func look(_ state: inout State) {
    guard let waiter = state.waiter, let place = state.bytes.firstRange(of: waiter.text) else { return }
    state.bytes.removeFirst(place.upperBound)
    state.waiter = nil
    waiter.continuation.resume()
  }

  private func run() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let (isReading, isHungUp) = state.withLock { ($0.isReading, $0.isHungUp) }
      if isHungUp {
        close(master)
        return
      }
      var wanted = pollfd(fd: master, events: Int16(isReading ? POLLIN : 0), revents: 0)
      guard poll(&wanted, 1, 20) > 0, CInt(wanted.revents) & POLLIN != 0 else {
        // While no process has the terminal's other end open, only the end of the test ends the wait.
        if CInt(wanted.revents) & POLLHUP != 0 { poll(nil, 0, 20) }
        continue
      }
      let count = buffer.withUnsafeMutableBytes { read(master, $0.baseAddress, $0.count) }
      guard count > 0 else { continue }
      state.withLock {
        $0.bytes += buffer.prefix(count)
        $0.count += count
        Self.look(&$0)
      }
    }
  }
}
