import GraphModel
import StickiesKit
import TerminalApplication

/// Tagging notes.
extension BoardScreen {
  /// Maximum length of a tag, in bytes of UTF-8; the model's own limit.
  static let maximumTag = 200

  /// Asks for a tag and toggles it. The tag is removed if all target notes have it, and otherwise added to the
  /// others.
  func askForTag() {
    guard connection.allowsChanges, hasTargets else { return }
    tagNames.ask()
    let offers: (String) -> [String] = { [weak self] in self?.tagNames.all.matching($0) ?? [] }
    let mark = targetMark
    let window = PromptWindow("Tag", maximum: Self.maximumTag, on: self, offers: offers) { [weak self] name in
      if self?.isStillMeant(mark) == true { self?.tag(name) }
    }
    services.modals.begin(window)
  }

  func tag(_ name: String) {
    if let all { return tagAll(all, name) }
    withTargets { [weak self] notes in self?.tag(notes, name) }
  }

  private func tag(_ notes: [Note], _ name: String) {
    guard connection.allowsChanges else { return }
    let worn = notes.compactMap { note in note.tags.first { UTF8Comparison.equal($0.name, name) } }
    if worn.count == notes.count { return change(notes, "Untag") { takeOff(name, of: $0) } }
    // A new tag is created with its first note: one commit, and one undo step.
    var tag = worn.first
    change(notes, "Tag") { note in
      tag = tag ?? self.tag(named: name)
      if let tag { wear(tag, on: note) }
    }
  }

  /// Removes a tag that no longer exists on the server from a note.
  /// - Returns: false if the violation has another cause.
  func takeOff(_ violation: Violation) -> Bool {
    guard let property = tagsProperty, violation.property == property, let note = context.fault(violation.id) as? Note,
      let tag = note.tags.first(where: { .object($0.id) == violation.value })
    else { return false }
    note.remove(tag, from: property)
    unsent.touch(note.id)
    report("the tag \(tag.name) is gone; the note goes without it", isTrouble: true)
    return true
  }

  /// Removes a tag from a note by name.
  func takeOff(_ name: String, of note: Note) {
    guard let property = tagsProperty else { return }
    for tag in note.tags where UTF8Comparison.equal(tag.name, name) { note.remove(tag, from: property) }
  }

  private var tagsProperty: PropertyNumber? { context.model.entity(named: "Note")?.property(named: "tags")?.number }

  /// The tag with a name; a new one if none is known here. The server merges it with an existing tag of that name.
  func tag(named name: String) -> Tag? {
    if let tag = tagNames[name] { return tag }
    let tag = context.insert(Tag.self)
    tag?.name = name
    return tag
  }

  func wear(_ tag: Tag, on note: Note) {
    guard let property = tagsProperty, !note.tags.contains(where: { UTF8Comparison.equal($0.name, tag.name) }) else {
      return
    }
    note.add(tag, to: property)
  }
}
