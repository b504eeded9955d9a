// swift-format-ignore-file
// Generated from the model Stickies, version 2. Change the model file instead.
import GraphModel
import GraphReplica

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Boards of sticky notes, with tags and links between notes.
public enum StickiesModel: ServedModel {
  /// The model file that the program was built with.
  public static let source = #"""
    {
      "format": 1,
      "name": "Stickies",
      "version": 2,
      "documentation": "Boards of sticky notes, with tags and links between notes.",
      "enumerations": [
        {
          "name": "Color",
          "documentation": "The palette of boards and notes.",
          "cases": ["yellow", "blue", "green", "pink", "purple", "gray", "orange", "red", "teal", "brown", "white"]
        }
      ],
      "entities": [
        {
          "name": "Board",
          "documentation": "A surface that notes stick to. Roles hold for a board, with its notes and their links.",
          "scope": "self",
          "access": {"delete": "creator == $user OR $role == 'owner'"},
          "attributes": [
            {"name": "name", "type": "string", "minimumLength": 1, "maximumLength": 200,
              "documentation": "The name of the board; no two boards share one."},
            {"name": "color", "type": "enumeration", "enumeration": "Color", "default": "gray",
              "documentation": "The color behind the notes."},
            {"name": "created", "type": "date", "assigned": "created", "documentation": "When the board was made."},
            {"name": "creator", "type": "string", "optional": true, "assigned": "creator",
              "documentation": "The id of the user that made the board, or a name if there are no accounts."}
          ],
          "relationships": [
            {"name": "notes", "destination": "Note", "inverse": "board", "toMany": true, "deleteRule": "cascade",
              "documentation": "The notes that stick to the board."}
          ],
          "unique": [["name"]]
        },
        {
          "name": "Note",
          "documentation": "A sticky note.",
          "scope": "board",
          "attributes": [
            {"name": "text", "type": "text", "default": "", "maximumLength": 4194304, "fullText": true,
              "documentation": "The text of the note. Concurrent edits merge character by character."},
            {"name": "color", "type": "enumeration", "enumeration": "Color", "default": "yellow",
              "documentation": "The paper's color."},
            {"name": "x", "type": "double", "default": 0, "documentation": "The left edge on the board, in points."},
            {"name": "y", "type": "double", "default": 0, "documentation": "The top edge on the board, in points."},
            {"name": "width", "type": "double", "default": 200, "minimum": 1, "maximum": 100000,
              "documentation": "The width, in points."},
            {"name": "height", "type": "double", "default": 200, "minimum": 1, "maximum": 100000,
              "documentation": "The height, in points."},
            {"name": "z", "type": "double", "default": 0,
              "documentation": "The place in the pile: a note lies above those with a lower z."},
            {"name": "collapsed", "type": "bool", "default": false, "documentation": "Only the first line shows."},
            {"name": "pinned", "type": "bool", "default": false, "documentation": "The note comes before others."},
            {"name": "locked", "type": "bool", "default": false, "documentation": "Front ends ask before they edit the note."},
            {"name": "number", "type": "integer", "assigned": "sequence",
              "documentation": "A short name for the note, given by the server and never used twice."},
            {"name": "created", "type": "date", "assigned": "created", "documentation": "When the note was written."},
            {"name": "updated", "type": "date", "assigned": "updated", "documentation": "When the note last changed."},
            {"name": "origin", "type": "string", "optional": true, "maximumLength": 1000,
              "documentation": "Where an imported note came from; no two notes share an origin."},
            {"name": "creator", "type": "string", "optional": true, "assigned": "creator",
              "documentation": "The id of the user that made the note, or a name if there are no accounts."}
          ],
          "relationships": [
            {"name": "board", "destination": "Board", "inverse": "notes", "optional": false, "deleteRule": "nullify",
              "documentation": "The board that the note sticks to."},
            {"name": "tags", "destination": "Tag", "inverse": "notes", "toMany": true,
              "documentation": "The words that the note is filed under."},
            {"name": "outgoing", "destination": "Link", "inverse": "from", "toMany": true, "deleteRule": "cascade",
              "documentation": "Links that begin at the note."},
            {"name": "incoming", "destination": "Link", "inverse": "to", "toMany": true, "deleteRule": "cascade",
              "documentation": "Links that end at the note."}
          ],
          "unique": [["number"], ["origin"]]
        },
        {
          "name": "Tag",
          "documentation": "A word that notes are filed under. The notes of all boards share the tags.",
          "scope": "*",
          "attributes": [
            {"name": "name", "type": "string", "minimumLength": 1, "maximumLength": 200,
              "documentation": "The word; no two tags share it."},
            {"name": "creator", "type": "string", "optional": true, "assigned": "creator",
              "documentation": "The id of the user that made the tag, or a name if there are no accounts."}
          ],
          "relationships": [
            {"name": "notes", "destination": "Note", "inverse": "tags", "toMany": true,
              "documentation": "The notes with this tag."}
          ],
          "unique": [["name"]]
        },
        {
          "name": "Link",
          "documentation": "An arrow from one note to another.",
          "scope": "from",
          "attributes": [
            {"name": "label", "type": "string", "default": "", "maximumLength": 200,
              "documentation": "The text beside the arrow."},
            {"name": "creator", "type": "string", "optional": true, "assigned": "creator",
              "documentation": "The id of the user that made the link, or a name if there are no accounts."}
          ],
          "relationships": [
            {"name": "from", "destination": "Note", "inverse": "outgoing", "optional": false,
              "documentation": "The note where the arrow begins."},
            {"name": "to", "destination": "Note", "inverse": "incoming", "optional": false,
              "documentation": "The note where the arrow ends."}
          ]
        }
      ]
    }
    
    """#

  /// The model. The file was checked when this code was generated from it.
  public static let model: GraphModel.Model = {
    do { return try GraphModel.Model(parsing: source.utf8) } catch { preconditionFailure("\(error)") }
  }()

  /// The classes of the model's entities.
  public static let classes: [ManagedObject.Type] = [Board.self, Note.self, Tag.self, Link.self]
}

/// The palette of boards and notes.
public enum Color: String, Sendable, CaseIterable {
  case `yellow`, `blue`, `green`, `pink`, `purple`, `gray`, `orange`, `red`, `teal`, `brown`, `white`
}

/// A surface that notes stick to. Roles hold for a board, with its notes and their links.
open class Board: ManagedObject {
  open override class var entityName: String { "Board" }

  /// The name of the board; no two boards share one.
  public var `name`: String {
    get { if case .string(let value) = loadedValue(4) { value } else { "" } }
    set { setValue(.string(newValue), for: 4) }
  }

  /// The color behind the notes.
  ///
  /// By default `"gray"`.
  public var `color`: Color {
    get { if case .string(let value) = loadedValue(1) { Color(rawValue: value) ?? .`gray` } else { .`gray` } }
    set { setValue(.string(newValue.rawValue), for: 1) }
  }

  /// When the board was made.
  public var `created`: Date {
    get { Date(loadedValue(2)) ?? Date(microseconds: 0) }
    set { setValue(newValue, for: 2) }
  }

  /// The id of the user that made the board, or a name if there are no accounts.
  public var `creator`: String? {
    get { if case .string(let value) = loadedValue(3) { value } else { nil } }
  }

  /// The notes that stick to the board.
  public var `notes`: ToMany<Note> { ToMany<Note>(self, 5) }
}

/// A sticky note.
open class Note: ManagedObject {
  open override class var entityName: String { "Note" }

  /// The text of the note. Concurrent edits merge character by character.
  public var `text`: String {
    get { if case .string(let value) = loadedValue(24) { value } else { "" } }
    set { setValue(.string(newValue), for: 24) }
  }

  /// The paper's color.
  ///
  /// By default `"yellow"`.
  public var `color`: Color {
    get { if case .string(let value) = loadedValue(13) { Color(rawValue: value) ?? .`yellow` } else { .`yellow` } }
    set { setValue(.string(newValue.rawValue), for: 13) }
  }

  /// The left edge on the board, in points.
  ///
  /// By default `0`.
  public var `x`: Double {
    get { if case .double(let value) = loadedValue(27) { value } else { 0.0 } }
    set { setValue(.double(newValue), for: 27) }
  }

  /// The top edge on the board, in points.
  ///
  /// By default `0`.
  public var `y`: Double {
    get { if case .double(let value) = loadedValue(28) { value } else { 0.0 } }
    set { setValue(.double(newValue), for: 28) }
  }

  /// The width, in points.
  ///
  /// By default `200`.
  public var `width`: Double {
    get { if case .double(let value) = loadedValue(26) { value } else { 200.0 } }
    set { setValue(.double(newValue), for: 26) }
  }

  /// The height, in points.
  ///
  /// By default `200`.
  public var `height`: Double {
    get { if case .double(let value) = loadedValue(16) { value } else { 200.0 } }
    set { setValue(.double(newValue), for: 16) }
  }

  /// The place in the pile: a note lies above those with a lower z.
  ///
  /// By default `0`.
  public var `z`: Double {
    get { if case .double(let value) = loadedValue(29) { value } else { 0.0 } }
    set { setValue(.double(newValue), for: 29) }
  }

  /// Only the first line shows.
  ///
  /// By default `false`.
  public var `collapsed`: Bool {
    get { if case .bool(let value) = loadedValue(12) { value } else { false } }
    set { setValue(.bool(newValue), for: 12) }
  }

  /// The note comes before others.
  ///
  /// By default `false`.
  public var `pinned`: Bool {
    get { if case .bool(let value) = loadedValue(22) { value } else { false } }
    set { setValue(.bool(newValue), for: 22) }
  }

  /// Front ends ask before they edit the note.
  ///
  /// By default `false`.
  public var `locked`: Bool {
    get { if case .bool(let value) = loadedValue(18) { value } else { false } }
    set { setValue(.bool(newValue), for: 18) }
  }

  /// A short name for the note, given by the server and never used twice.
  public var `number`: Int {
    get { if case .integer(let value) = loadedValue(19) { Int(value) } else { 0 } }
  }

  /// When the note was written.
  public var `created`: Date {
    get { Date(loadedValue(14)) ?? Date(microseconds: 0) }
    set { setValue(newValue, for: 14) }
  }

  /// When the note last changed.
  public var `updated`: Date {
    get { Date(loadedValue(25)) ?? Date(microseconds: 0) }
    set { setValue(newValue, for: 25) }
  }

  /// Where an imported note came from; no two notes share an origin.
  public var `origin`: String? {
    get { if case .string(let value) = loadedValue(20) { value } else { nil } }
    set { setValue(newValue.map { .string($0) } ?? .null, for: 20) }
  }

  /// The id of the user that made the note, or a name if there are no accounts.
  public var `creator`: String? {
    get { if case .string(let value) = loadedValue(15) { value } else { nil } }
  }

  /// The board that the note sticks to.
  public var `board`: Board? {
    get { loadedObject(11, Board.self) }
    set { setValue(newValue.map { .object($0.id) } ?? .null, for: 11) }
  }

  /// The words that the note is filed under.
  public var `tags`: ToMany<Tag> { ToMany<Tag>(self, 23) }

  /// Links that begin at the note.
  public var `outgoing`: ToMany<Link> { ToMany<Link>(self, 21) }

  /// Links that end at the note.
  public var `incoming`: ToMany<Link> { ToMany<Link>(self, 17) }
}

/// A word that notes are filed under. The notes of all boards share the tags.
open class Tag: ManagedObject {
  open override class var entityName: String { "Tag" }

  /// The word; no two tags share it.
  public var `name`: String {
    get { if case .string(let value) = loadedValue(31) { value } else { "" } }
    set { setValue(.string(newValue), for: 31) }
  }

  /// The id of the user that made the tag, or a name if there are no accounts.
  public var `creator`: String? {
    get { if case .string(let value) = loadedValue(30) { value } else { nil } }
  }

  /// The notes with this tag.
  public var `notes`: ToMany<Note> { ToMany<Note>(self, 32) }
}

/// An arrow from one note to another.
open class Link: ManagedObject {
  open override class var entityName: String { "Link" }

  /// The text beside the arrow.
  public var `label`: String {
    get { if case .string(let value) = loadedValue(9) { value } else { "" } }
    set { setValue(.string(newValue), for: 9) }
  }

  /// The id of the user that made the link, or a name if there are no accounts.
  public var `creator`: String? {
    get { if case .string(let value) = loadedValue(7) { value } else { nil } }
  }

  /// The note where the arrow begins.
  public var `from`: Note? {
    get { loadedObject(8, Note.self) }
    set { setValue(newValue.map { .object($0.id) } ?? .null, for: 8) }
  }

  /// The note where the arrow ends.
  public var `to`: Note? {
    get { loadedObject(10, Note.self) }
    set { setValue(newValue.map { .object($0.id) } ?? .null, for: 10) }
  }
}

extension Color: EnumeratedValue {}

extension ObjectPath where Object: Board {
  /// The name of the board; no two boards share one.
  public var `name`: TypedExpression<String, Cardinality> { TypedExpression<String, Cardinality>(self, attribute: 4) }
  /// The color behind the notes.
  public var `color`: TypedExpression<Color, Cardinality> { TypedExpression<Color, Cardinality>(self, attribute: 1) }
  /// When the board was made.
  public var `created`: TypedExpression<DateTime, Cardinality> { TypedExpression<DateTime, Cardinality>(self, attribute: 2) }
  /// The id of the user that made the board, or a name if there are no accounts.
  public var `creator`: TypedExpression<String, Cardinality.AfterOptional> { TypedExpression<String, Cardinality.AfterOptional>(self, attribute: 3) }
  /// The notes that stick to the board.
  public var `notes`: ToManyPath<Note, Cardinality.AfterToOne> { ToManyPath<Note, Cardinality.AfterToOne>(self, toMany: 5) }
}

extension ObjectPath where Object: Note {
  /// The text of the note. Concurrent edits merge character by character.
  public var `text`: TypedExpression<FullText, Cardinality> { TypedExpression<FullText, Cardinality>(self, attribute: 24) }
  /// The paper's color.
  public var `color`: TypedExpression<Color, Cardinality> { TypedExpression<Color, Cardinality>(self, attribute: 13) }
  /// The left edge on the board, in points.
  public var `x`: TypedExpression<Double, Cardinality> { TypedExpression<Double, Cardinality>(self, attribute: 27) }
  /// The top edge on the board, in points.
  public var `y`: TypedExpression<Double, Cardinality> { TypedExpression<Double, Cardinality>(self, attribute: 28) }
  /// The width, in points.
  public var `width`: TypedExpression<Double, Cardinality> { TypedExpression<Double, Cardinality>(self, attribute: 26) }
  /// The height, in points.
  public var `height`: TypedExpression<Double, Cardinality> { TypedExpression<Double, Cardinality>(self, attribute: 16) }
  /// The place in the pile: a note lies above those with a lower z.
  public var `z`: TypedExpression<Double, Cardinality> { TypedExpression<Double, Cardinality>(self, attribute: 29) }
  /// Only the first line shows.
  public var `collapsed`: TypedExpression<Bool, Cardinality> { TypedExpression<Bool, Cardinality>(self, attribute: 12) }
  /// The note comes before others.
  public var `pinned`: TypedExpression<Bool, Cardinality> { TypedExpression<Bool, Cardinality>(self, attribute: 22) }
  /// Front ends ask before they edit the note.
  public var `locked`: TypedExpression<Bool, Cardinality> { TypedExpression<Bool, Cardinality>(self, attribute: 18) }
  /// A short name for the note, given by the server and never used twice.
  public var `number`: TypedExpression<Int64, Cardinality> { TypedExpression<Int64, Cardinality>(self, attribute: 19) }
  /// When the note was written.
  public var `created`: TypedExpression<DateTime, Cardinality> { TypedExpression<DateTime, Cardinality>(self, attribute: 14) }
  /// When the note last changed.
  public var `updated`: TypedExpression<DateTime, Cardinality> { TypedExpression<DateTime, Cardinality>(self, attribute: 25) }
  /// Where an imported note came from; no two notes share an origin.
  public var `origin`: TypedExpression<String, Cardinality.AfterOptional> { TypedExpression<String, Cardinality.AfterOptional>(self, attribute: 20) }
  /// The id of the user that made the note, or a name if there are no accounts.
  public var `creator`: TypedExpression<String, Cardinality.AfterOptional> { TypedExpression<String, Cardinality.AfterOptional>(self, attribute: 15) }
  /// The board that the note sticks to.
  public var `board`: ObjectPath<Board, Cardinality.AfterToOne> { ObjectPath<Board, Cardinality.AfterToOne>(self, toOne: 11) }
  /// The words that the note is filed under.
  public var `tags`: ToManyPath<Tag, Cardinality.AfterToOne> { ToManyPath<Tag, Cardinality.AfterToOne>(self, toMany: 23) }
  /// Links that begin at the note.
  public var `outgoing`: ToManyPath<Link, Cardinality.AfterToOne> { ToManyPath<Link, Cardinality.AfterToOne>(self, toMany: 21) }
  /// Links that end at the note.
  public var `incoming`: ToManyPath<Link, Cardinality.AfterToOne> { ToManyPath<Link, Cardinality.AfterToOne>(self, toMany: 17) }
}

extension ObjectPath where Object: Tag {
  /// The word; no two tags share it.
  public var `name`: TypedExpression<String, Cardinality> { TypedExpression<String, Cardinality>(self, attribute: 31) }
  /// The id of the user that made the tag, or a name if there are no accounts.
  public var `creator`: TypedExpression<String, Cardinality.AfterOptional> { TypedExpression<String, Cardinality.AfterOptional>(self, attribute: 30) }
  /// The notes with this tag.
  public var `notes`: ToManyPath<Note, Cardinality.AfterToOne> { ToManyPath<Note, Cardinality.AfterToOne>(self, toMany: 32) }
}

extension ObjectPath where Object: Link {
  /// The text beside the arrow.
  public var `label`: TypedExpression<String, Cardinality> { TypedExpression<String, Cardinality>(self, attribute: 9) }
  /// The id of the user that made the link, or a name if there are no accounts.
  public var `creator`: TypedExpression<String, Cardinality.AfterOptional> { TypedExpression<String, Cardinality.AfterOptional>(self, attribute: 7) }
  /// The note where the arrow begins.
  public var `from`: ObjectPath<Note, Cardinality.AfterToOne> { ObjectPath<Note, Cardinality.AfterToOne>(self, toOne: 8) }
  /// The note where the arrow ends.
  public var `to`: ObjectPath<Note, Cardinality.AfterToOne> { ObjectPath<Note, Cardinality.AfterToOne>(self, toOne: 10) }
}
