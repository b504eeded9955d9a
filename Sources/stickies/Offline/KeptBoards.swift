import GraphModel
import GraphOffline
import GraphShell
import StickiesKit
import StickiesModel

/// The boards that a copy has, if it does not have all.
extension OfflineReplica {
  /// The names of the boards, in order; nil if the copy has all. A board that was deleted has none.
  func keptBoards() throws -> [String]? { keptBoards(try status()?.scopes) }

  /// - Parameter scopes: the keys of the boards; nil for all.
  func keptBoards(_ scopes: Set<UniqueID>?) -> [String]? {
    guard let scopes else { return nil }
    let ids = Set(scopes.map { ObjectID(key: $0, entity: BoardProperties.entity.number) })
    return copiedImages(of: ids, model: StickiesModel.model).values
      .map { TextTable.visible($0.text(of: BoardProperties.name)) }.sorted()
  }
}

extension [String] {
  /// The boards of these names, for a sentence.
  var sentence: String {
    switch count {
    case 0: "no board"
    case 1: "the board \(self[0])"
    case 2...4: "the boards \(dropLast().joined(separator: ", ")) and \(self[count - 1])"
    default: "\(count) boards"
    }
  }
}

extension CommandContext {
  /// Whether the notes are those of a copy that does not have all boards.
  var isPartOfCopy: Bool { client.isOffline && client.syncStatus.current?.scopes != nil }
}
