import GraphModel
import StickiesKit
import TerminalApplication

/// Filing notes under words.
extension BoardScreen {
  /// How long a tag may be, in bytes of UTF-8; the model's own limit.
  static let maximumTag = 200

  /// Asks for a tag: notes that have it lose it, the others get it.
  func askForTag() {
    guard !targets.isEmpty else { return }
    let window = PromptWindow("Tag", maximum: Self.maximumTag, on: self, offers: { _ in [] }) { [weak self] name in
      self?.tag(name)
    }
    application.beginModal(window)
  }

  func tag(_ name: String) {
    guard let property = context.model.entity(named: "Note")?.property(named: "tags")?.number else { return }
    let worn = targets.compactMap { note in note.tags.first { $0.name == name } }
    if worn.count == targets.count {
      return change("Untag") { note in
        for tag in note.tags where tag.name == name { note.remove(tag, from: property) }
      }
    }
    // A tag of that name that is there already becomes this one.
    guard let tag = worn.first ?? context.insert(Tag.self) else { return }
    if worn.isEmpty { tag.name = name }
    change("Tag") { note in
      if !note.tags.contains(where: { $0.name == name }) { note.add(tag, to: property) }
    }
  }
}
