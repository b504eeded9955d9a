import TerminalCells

extension Grid {
  /// Draws an empty panel with frame and shadow.
  mutating func panel(_ frame: Rect, theme: Theme, clip: Rect) {
    shadow(of: frame, clip: clip)
    let inside = clip.intersection(frame)
    hideCursor(in: inside)
    fill(inside, theme.panel)
    box(frame, theme.symbols.box, theme.panelBorder, clip: inside)
  }
}

extension Theme {
  /// A dimmed style for disabled items.
  func faint(_ style: Style) -> Style {
    var faint = style
    if depth == .none || style.background == .standard || depth == .sixteen {
      faint.attributes.insert(.dim)
    } else {
      faint.foreground = depth.nearest(to: style.foreground.mixed(with: style.background, 0.45))
    }
    return faint
  }
}

extension Rect {
  /// A centered rectangle of a size, clamped to this one.
  func centered(_ size: Size) -> Rect {
    let width = min(size.width, self.size.width)
    let height = min(size.height, self.size.height)
    return Rect(
      x: minX + (self.size.width - width) / 2, y: minY + (self.size.height - height) / 2, width: width, height: height)
  }
}

extension Style {
  /// The style in bold.
  var bold: Style { Style(foreground, on: background, attributes.union(.bold)) }
}

extension Theme {
  /// The style of keys on a panel.
  var panelKey: Style { panel.bold }
}
