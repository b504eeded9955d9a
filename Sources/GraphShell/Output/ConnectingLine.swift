import GraphControllers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A line on the terminal while the first connection takes long. It appears after a moment, shows a spinner, and is
/// erased at the end; for a fast connection nothing is drawn.
@MainActor
final class ConnectingLine {
  private var overlay = BusyOverlay()
  private var ticking: Task<Void, Never>?
  private var isShown = false
  private let address: String?
  private let write: (String) -> Void

  /// Creates a line that is not shown yet.
  /// - Parameters:
  ///   - address: the address of the server; nil for the program's own choice, which is not shown.
  ///   - write: writes to the terminal without buffering.
  init(to address: String?, write: @escaping (String) -> Void) {
    (self.address, self.write) = (address, write)
  }

  /// Runs `body` and shows the line meanwhile.
  func whileConnecting<Result>(_ body: @MainActor () async throws -> Result) async rethrows -> Result {
    precondition(ticking == nil, "a line belongs to one connection")
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
    let wheel = Self.spinner[picture.phase % Self.spinner.count]
    let place = if let address { address + " " } else { "" }
    write("\r\u{1B}[K\(wheel) \(picture.message) \(place)(Ctrl-C stops)")
    isShown = true
  }

  private static let spinner: [Character] = ["│", "/", "─", "\\"]

  /// A monotonic time, in milliseconds.
  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
