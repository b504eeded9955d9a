import Glibc
import GraphControllers
import TerminalCells

/// Says on a terminal that the first connection takes a while: a line that comes after a moment, moves, and goes without a
/// trace. Nothing is drawn for a connection that is there at once.
@MainActor
public final class ConnectingLine {
  private var overlay = BusyOverlay()
  private var ticking: Task<Void, Never>?
  private var isShown = false
  private let address: String
  private let symbols: Symbols
  private let write: (String) -> Void

  /// A line that is not shown yet.
  /// - Parameters:
  ///   - address: where one connects to.
  ///   - isASCII: for a terminal without Unicode.
  ///   - write: to the terminal, at once.
  public init(to address: String, isASCII: Bool = false, write: @escaping (String) -> Void) {
    (self.address, self.write) = (address, write)
    symbols = isASCII ? .ascii : .lines
  }

  /// Runs `body`, and says meanwhile what is waited for.
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
    guard let picture = overlay.picture(at: Self.now) else { return }
    let wheel = symbols.spinner[picture.phase % symbols.spinner.count]
    write("\r\u{1B}[K\(wheel) \(picture.message) \(address.isEmpty ? "" : address + " ")(Ctrl-C stops)")
    isShown = true
  }

  private static var now: Int64 { BoardSession.now }
}
