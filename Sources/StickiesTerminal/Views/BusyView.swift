import TerminalCells

/// Draws a message with a spinner over a view, and dims the view, which stays readable. Its owner keeps one instance
/// and updates it.
public final class BusyView {
  /// A description of what is in progress.
  public var message: String
  /// The number of steps of the spinner.
  public var phase: Int
  /// The completed fraction, from 0 to 1; nil if unknown.
  public var progress: Double?
  /// The key that cancels; empty if none does.
  public var cancelKey: String

  /// Creates an overlay.
  public init(_ message: String = "", phase: Int = 0, progress: Double? = nil, cancelKey: String = "") {
    self.message = message
    self.phase = phase
    self.progress = progress
    self.cancelKey = cancelKey
  }

  private func panel(_ frame: Rect) -> Rect {
    let hint = cancelKey.isEmpty ? 0 : CellText.width(of: cancelKey) + 9
    let width = min(max(TruncatedLine(message, width: 60, cut: ".").width + 8, hint + 6, progress == nil ? 0 : 32), 68)
    return frame.centered(Size(width: width, height: 3 + (progress == nil ? 0 : 1) + (hint == 0 ? 0 : 1)))
  }

  /// Draws the overlay over `frame`.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let clip = clip.intersection(frame)
    guard !clip.isEmpty else { return }
    grid.restyle(clip) { style in
      style.attributes.insert(.dim)
      style.attributes.remove(.bold)
      style.foreground = style.foreground.mixed(with: style.background, 0.4)
    }
    let panel = panel(frame)
    grid.panel(panel, theme: theme, clip: clip)
    let inside = panel.inset(1)
    let clipInside = clip.intersection(inside)
    let spinner = theme.symbols.spinner
    let wheel = spinner[Int(phase.magnitude % UInt(spinner.count))]
    grid.draw(String(wheel), x: inside.minX + 1, y: inside.minY, theme.panel.bold, clip: clipInside)
    grid.draw(
      message, x: inside.minX + 3, y: inside.minY, width: inside.size.width - 4, theme.panel, clip: clipInside,
      cut: theme.symbols.cut)
    var y = inside.minY + 1
    if let progress = progress.map({ $0.isNaN ? 0 : min(max($0, 0), 1) }) {
      let percent = "\(Int(progress * 100))%"
      let width = max(0, inside.size.width - 7)
      let done = Int(progress * Double(width))
      let bar = Rect(x: inside.minX + 1, y: y, width: width, height: 1)
      grid.fill(bar, with: theme.symbols.empty, theme.panel, clip: clipInside)
      grid.fill(
        Rect(x: bar.minX, y: y, width: done, height: 1), with: theme.symbols.full, theme.panel, clip: clipInside)
      grid.draw(percent, x: inside.maxX - 1 - percent.count, y: y, theme.panel, clip: clipInside)
      y += 1
    }
    if !cancelKey.isEmpty {
      grid.draw(
        "\(cancelKey) cancels", x: inside.minX + 3, y: y, width: inside.size.width - 4, theme.panel, clip: clipInside,
        cut: theme.symbols.cut)
    }
  }
}
