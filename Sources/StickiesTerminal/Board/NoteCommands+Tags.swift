import GraphModel
import StickiesKit
import TerminalApplication

/// Tagging notes.
extension NoteCommands {
  /// Maximum length of a tag, in bytes of UTF-8; the model's own limit.
  static let maximumTag = 200

  /// Asks for a tag and toggles it. The tag is removed if all target notes have it, and otherwise added to the
  /// others.
  func askForTag() {
    guard connection.allowsChanges, hasTargets else { return }
    tags.names.ask()
    let offers: (String) -> [String] = { [names = tags.names] in names.all.matching($0) }
    let mark = targetMark
    let window = PromptWindow("Tag", maximum: Self.maximumTag, with: services, offers: offers) { [weak self] name in
      if self?.isStillMeant(mark) == true { self?.tag(name) }
    }
    services.modals.begin(window)
  }

  func tag(_ name: String) {
    if let all = selection.all { return bulk.tag(all, name) }
    withTargets { [weak self] notes in self?.tag(notes, name) }
  }

  private func tag(_ notes: [Note], _ name: String) {
    guard connection.allowsChanges else { return }
    let worn = notes.compactMap { note in note.tags.first { UTF8Comparison.equal($0.name, name) } }
    if worn.count == notes.count { return change(notes, "Untag") { tags.detach(name, from: $0) } }
    // A new tag is created with its first note: one commit, and one undo step.
    var tag = worn.first
    change(notes, "Tag") { note in
      let added = tag ?? tags.tag(named: name)
      tag = added
      tags.attach(added, to: note)
    }
  }
}
