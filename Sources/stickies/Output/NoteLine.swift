import GraphModel
import GraphShell
import StickiesKit
import StickiesModel

/// The lines that identify notes, boards, tags and links.
enum NoteLine {
  /// The line of an object; nil for entities of other models.
  static func text(_ image: ObjectImage, of entity: Entity, isColored: Bool) -> String? {
    // The entity is that of the served model, whose numbers may differ.
    func value(_ property: Property) -> Value { entity.property(named: property.name).map { image[$0] } ?? .null }
    let names = [NoteProperties.text, BoardProperties.name, LinkProperties.label]
    let full = names.lazy.compactMap { value($0).stringValue }.first
    let text = if let full { TextTable.firstLine(full) } else { "" }
    switch entity.name {
    case Note.entityName:
      let number = name(of: value(NoteProperties.number))
      let body = text.isEmpty ? "(empty)" : text
      guard isColored, let code = value(NoteProperties.color).stringValue.flatMap({ codes[$0] }) else {
        return "\(number) \(body)"
      }
      return "\(number) \u{1B}[38;5;\(code)m\(body)\u{1B}[0m"
    case Board.entityName: return "board \(text)"
    case Tag.entityName: return "tag \(text)"
    case Link.entityName: return "link \(image.id.description.prefix(8))\(text.isEmpty ? "" : " " + text)"
    default: return nil
    }
  }

  /// `#7`, or `+1` for a note that the daemon does not have yet.
  private static func name(of number: Value) -> String {
    let digits = digits(of: number)
    return digits.hasPrefix("+") ? digits : "#\(digits)"
  }

  /// `7`, or `+1` for a note that the daemon does not have yet.
  static func digits(of number: Value) -> String {
    if case .integer(let number) = number, let text = ProvisionalNumber.text(number) { return text }
    return number.json(kind: .integer).text
  }

  /// The terminal's color numbers of the papers.
  private static let codes = [
    "yellow": 220, "blue": 75, "green": 114, "pink": 211, "purple": 141, "gray": 247, "orange": 208, "red": 203,
    "teal": 80, "brown": 137, "white": 255,
  ]
}
