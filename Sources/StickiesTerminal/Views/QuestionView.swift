import GraphModel
import TerminalCells

/// Draws a question: the message, an endangered text if there is one, and a button for each answer.
public struct QuestionView: Hashable, Sendable {
  /// A button for an answer.
  public struct Button: Hashable, Sendable {
    /// The title.
    public var title: String
    /// The key that gives the answer, as text.
    public var key: String

    /// Creates a button.
    public init(_ title: String, key: String = "") {
      self.title = title
      self.key = key
    }
  }

  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// A button, by its index.
    case button(Int)
    /// The rest of the panel.
    case panel
  }

  /// The title.
  public let title: String
  /// The question, in sentences.
  public let message: String
  /// A text that would be lost; its beginning is shown.
  public let offer: String
  /// The answers; Return gives the first one.
  public let buttons: [Button]

  /// Creates a question.
  public init(_ title: String, message: String, offer: String = "", buttons: [Button]) {
    self.title = title
    self.message = message
    self.offer = offer
    self.buttons = buttons
  }

  private struct Layout {
    let panel: Rect
    let message: [String]
    let offer: [String]
    /// The frames of the buttons, wrapped into rows.
    let buttons: [Rect]
  }

  private func label(_ button: Button) -> String {
    button.key.isEmpty ? button.title : "\(button.title) (\(button.key))"
  }

  /// The label for a width: the title is truncated, the key stays.
  private func label(_ button: Button, cut: Character, to columns: Int) -> String {
    let whole = label(button)
    let key = " (\(button.key))"
    let room = columns - CellText.width(of: key)
    guard !button.key.isEmpty, CellText.width(of: whole) > columns, room > 0 else { return whole }
    return TruncatedLine(button.title, width: room, cut: cut).text + key
  }

  /// The rows of a text, up to a limit.
  private static func rows(_ text: String, width: Int, limit: Int) -> [String] {
    let shown = String(text.beginning(of: 4000))
    let layout = TextLayout(shown, width: width)
    return layout.rows.indices.prefix(limit).map { String(layout.shown($0, of: shown)) }
  }

  private func place(_ screen: Rect) -> Layout {
    let width = max(8, min(64, screen.size.width - 4))
    let columns = width - 4
    let message = Self.rows(message, width: columns, limit: 6)
    var spots = [Point]()
    var (x, y) = (0, 0)
    for button in buttons {
      let own = min(CellText.width(of: label(button)) + 2, columns)
      if x > 0, x + own > columns { (x, y) = (0, y + 1) }
      spots.append(Point(x: x, y: y))
      x += own + 2
    }
    let buttonRows = buttons.isEmpty ? 0 : y + 1
    let room = max(1, min(8, screen.size.height - message.count - buttonRows - 5))
    let offer = offer.isEmpty ? [] : Self.rows(offer, width: columns - 2, limit: room)
    let height = 2 + message.count + (offer.isEmpty ? 0 : offer.count + 2) + 1 + buttonRows
    let panel = screen.centered(Size(width: width, height: height))
    // On a screen that is too low, the buttons take precedence over the text.
    let first = panel.maxY - 1 - buttonRows
    let frames = zip(spots, buttons).map { spot, button in
      Rect(
        x: panel.minX + 2 + spot.x, y: first + spot.y, width: min(CellText.width(of: label(button)) + 2, columns),
        height: 1)
    }
    return Layout(panel: panel, message: message, offer: offer, buttons: frames)
  }

  /// Draws the question in the middle of a screen.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let frame = frame.clamped
    let clip = clip.intersection(frame)
    let place = place(frame)
    let panel = place.panel
    grid.panel(panel, theme: theme, clip: clip)
    let whole = clip.intersection(panel)
    if !title.isEmpty {
      grid.draw(
        " \(title) ", x: panel.minX + 2, y: panel.minY, width: panel.size.width - 4, theme.panel.bold, clip: whole,
        cut: theme.symbols.cut)
    }
    let inside = clip.intersection(panel.inset(1))
    let low = place.buttons.first?.minY ?? panel.maxY - 1
    let above = inside.intersection(
      Rect(x: inside.minX, y: inside.minY, width: inside.size.width, height: low - inside.minY))
    var y = panel.minY + 1
    for row in place.message {
      grid.draw(row, x: panel.minX + 2, y: y, theme.panel, clip: above)
      y += 1
    }
    if !place.offer.isEmpty {
      y += 1
      let paper = Rect(x: panel.minX + 2, y: y, width: panel.size.width - 4, height: place.offer.count)
      grid.fill(paper, theme.note(.yellow).text, clip: above)
      for row in place.offer {
        grid.draw(row, x: paper.minX + 1, y: y, theme.note(.yellow).text, clip: above.intersection(paper))
        y += 1
      }
    }
    for (index, frame) in place.buttons.enumerated() {
      let style = index == 0 ? theme.button : theme.otherButton
      grid.fill(frame, style, clip: inside)
      grid.draw(
        label(buttons[index], cut: theme.symbols.cut, to: frame.size.width - 2), x: frame.minX + 1, y: frame.minY,
        width: frame.size.width - 2, style, clip: inside, cut: theme.symbols.cut)
    }
  }

  /// The part at a point; nil outside the question.
  public func part(at point: Point, frame: Rect) -> Part? {
    let place = place(frame.clamped)
    guard place.panel.contains(point) else { return nil }
    return place.buttons.firstIndex { $0.contains(point) }.map { .button($0) } ?? .panel
  }
}
