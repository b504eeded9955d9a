import GraphModel
import GraphShell

/// The verbs for changes of notes: moved, colored, tagged.
struct NoteVocabulary: ChangeVocabulary {
  func name(of image: ObjectImage, _ entity: Entity) -> String? {
    guard entity.number == NoteProperties.entity.number else { return nil }
    return "#" + image[NoteProperties.number].json(kind: .integer).text
  }

  /// The board and tags of a new note, or the ends of a link; empty for other objects.
  func owners(of image: ObjectImage, _ entity: Entity, _ formatter: ChangeFormatter) -> String {
    switch entity.number {
    case NoteProperties.entity.number:
      let boards = formatter.knownNames(image[NoteProperties.board].objectIDs).map { "on \($0)" }
      let tags = formatter.knownNames(image[NoteProperties.tags].objectIDs)
      let parts = boards + (tags.isEmpty ? [] : ["tagged \(tags.joined(separator: ", "))"])
      return parts.isEmpty ? "" : "  (\(parts.joined(separator: ", ")))"
    case LinkProperties.entity.number:
      let ends = image[LinkProperties.from].objectIDs + image[LinkProperties.to].objectIDs
      return "  (\(ends.map(formatter.name).joined(separator: " → ")))"
    default: return ""
    }
  }

  func clauses(
    from before: ObjectImage?, to after: ObjectImage, _ entity: Entity, _ changed: [Property],
    _ formatter: ChangeFormatter
  ) -> (clauses: [String], properties: Set<PropertyNumber>) {
    var words = [String]()
    var described = Set<PropertyNumber>()
    func has(_ properties: Property...) -> Bool {
      guard changed.contains(where: { change in properties.contains { $0.number == change.number } }) else {
        return false
      }
      described.formUnion(properties.map(\.number))
      return true
    }
    /// For one property, or for two with a separator.
    func arrow(_ first: Property, _ between: String = "", _ second: Property? = nil) -> String {
      func text(_ image: ObjectImage) -> String {
        let cell = formatter.cell(image[first], first)
        guard let second else { return cell }
        return cell + between + formatter.cell(image[second], second)
      }
      return formatter.arrow(before.map(text), text(after))
    }
    for name in [BoardProperties.name, TagProperties.name] where has(name) { words.append("renamed \(arrow(name))") }
    if has(NoteProperties.text) { words.append(textWords(before, after)) }
    if has(NoteProperties.board) { words.append("put on another board \(arrow(NoteProperties.board))") }
    if has(NoteProperties.x, NoteProperties.y) {
      words.append("moved \(arrow(NoteProperties.x, ",", NoteProperties.y))")
    }
    if has(NoteProperties.width, NoteProperties.height) {
      words.append("resized \(arrow(NoteProperties.width, "x", NoteProperties.height))")
    }
    for color in [NoteProperties.color, BoardProperties.color] where has(color) {
      words.append("colored \(arrow(color))")
    }
    if has(NoteProperties.z) { words.append("\(isHigher(before, after)) \(arrow(NoteProperties.z))") }
    if has(NoteProperties.tags) {
      let old = before.map { $0[NoteProperties.tags] } ?? .null
      let (added, removed) = formatter.members(old, after[NoteProperties.tags])
      if !added.isEmpty { words.append("tagged \(added.map(formatter.name).joined(separator: ", "))") }
      if !removed.isEmpty { words.append("untagged \(removed.map(formatter.name).joined(separator: ", "))") }
    }
    for (flag, yes, no) in [
      (NoteProperties.pinned, "pinned", "unpinned"), (NoteProperties.locked, "locked", "unlocked"),
      (NoteProperties.collapsed, "collapsed", "expanded"),
    ] where has(flag) {
      words.append(after[flag] == .bool(true) ? yes : no)
    }
    return (words, described)
  }

  private func isHigher(_ before: ObjectImage?, _ after: ObjectImage) -> String {
    guard case .double(let new) = after[NoteProperties.z], case .double(let old)? = before?[NoteProperties.z] else {
      return "restacked"
    }
    return new > old ? "raised" : "lowered"
  }

  private func textWords(_ before: ObjectImage?, _ after: ObjectImage) -> String {
    let new = after.text(of: NoteProperties.text)
    guard let old = before?[NoteProperties.text].stringValue else { return "wrote \(TextChange.quoted(new))" }
    switch TextChange.between(old, new) {
    case .inserted(let text)?: return "wrote \(TextChange.quoted(text))"
    case .removed(let text)?: return "erased \(TextChange.quoted(text))"
    case .replaced(let was, let now)?: return "rewrote \(TextChange.quoted(was)) → \(TextChange.quoted(now))"
    case nil: return "edited"
    }
  }
}
