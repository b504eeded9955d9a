import GraphModel
import StickiesKit

/// The tags, and which notes have them.
final class TagController: BoardPart {
  let services: BoardServices
  let names: TagNames

  init(_ services: BoardServices) {
    self.services = services
    names = TagNames(in: services.context, link: services.link)
  }

  /// The number of the property that contains a note's tags.
  var property: PropertyNumber { context.model.property(Note.self, \.tags).number }

  /// The tag with a name; a new one if none is known here. The server merges it with an existing tag of that name.
  func tag(named name: String) -> Tag {
    if let tag = names[name] { return tag }
    let tag = Tag(in: context)
    tag.name = name
    return tag
  }

  /// Adds a tag to a note, unless the note has one of that name.
  func attach(_ tag: Tag, to note: Note) {
    let isAttached = note.tags.contains { UTF8Comparison.equal($0.name, tag.name) }
    if !isAttached { note.add(tag, to: property) }
  }

  /// Removes a tag from a note by name.
  func detach(_ name: String, from note: Note) {
    for tag in note.tags where UTF8Comparison.equal(tag.name, name) { note.remove(tag, from: property) }
  }
}
