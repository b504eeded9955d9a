import Glibc
import GraphControllers
import TerminalCells

/// A line on the terminal while the first connection takes long. It appears after a moment, shows a spinner, and is
/// erased at the end; for a fast connection nothing is drawn.
@MainActor
public final class ConnectingLine {
  private var overlay = BusyOverlay()
  private var ticking: Task<Void, Never>?
  private var isShown = false
  private let address: String
  private let symbols: Symbols
  private let write: (String) -> Void

  /// Creates a line that is not shown yet.
  /// - Parameters:
  ///   - address: the address of the server.
  ///   - isASCII: whether the terminal lacks Unicode.
  ///   - write: writes to the terminal without buffering.
  public init(to address: String, isASCII: Bool = false, write: @escaping (String) -> Void) {
    (self.address, self.write) = (address, write)
    symbols = isASCII ? .ascii : .lines
  }

  /// Runs `body` and shows the line meanwhile.
  public func whileConnecting<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    let token = overlay.show(.connecting, at: Self.now)
    ticking = Task { [weak self] in
      while let due = self?.nextChange, !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(max(0, due - Self.now)))
        if !Task.isCancelled { self?.draw() }
      }
    }
    defer {
      ticking?.cancel()
      overlay.hide(token)
      if isShown { write("\r\u{1B}[K") }
      isShown = false
    }
    return try await body()
  }

  private var nextChange: Int64? { overlay.nextChange(after: Self.now) }

  private func draw() {
    guard let picture = overlay.appearance(at: Self.now) else { return }
    let wheel = symbols.spinner[picture.phase % symbols.spinner.count]
    write("\r\u{1B}[K\(wheel) \(picture.message) \(address.isEmpty ? "" : address + " ")(Ctrl-C stops)")
    isShown = true
  }

  private static var now: Int64 { BoardSession.now }
}
