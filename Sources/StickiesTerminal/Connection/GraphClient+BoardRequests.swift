import GraphClient
import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import StickiesModel

/// The answers to the requests of views.
@MainActor
extension GraphClient {
  var noteEntity: Entity { context.model.builtIn(Note.self) }

  func answer(_ question: BoardRequest, _ batches: NoteBatches) async throws -> BoardResponse {
    switch question {
    case .reach: .reach(try await reach())
    case .past(let board): .past(try await past(board))
    case .count(let predicate): .count(try await count(of: noteEntity, where: predicate))
    case .find(let search): .notes(try await find(search))
    case .links(let predicate, let limit): .links(try await links(where: predicate, limit: limit))
    case .identify(let predicate): .ids(try await identifiers(of: noteEntity, where: predicate))
    case .step(let isRedo):
      // Changes of all notes were made by a client of their own, on another stack.
      .stepped(isWhole: try await (isRedo ? redo(scope: nil) : undo(scope: nil)).committed.conflicts.isEmpty)
    case .change(let batch): .changed(try await batches.perform(batch))
    }
  }

  private func find(_ search: NoteSearch) async throws -> [ObjectImage] {
    var notes = [ObjectImage]()
    let stream = images(
      of: noteEntity, where: search.predicate, sort: search.sort, limit: search.limit, after: search.after)
    stream.omitsDamage = true
    for try await chunk in stream { notes += chunk }
    report(stream.damage)
    return notes
  }

  private func links(where predicate: GraphPredicate, limit: Int) async throws -> [ObjectImage] {
    var links = [ObjectImage]()
    let stream = images(of: context.model.builtIn(Link.self), where: predicate, limit: limit)
    stream.omitsDamage = true
    for try await chunk in stream { links += chunk }
    report(stream.damage)
    return links
  }

  private func report(_ damage: DamageNotice) { if !damage.isEmpty { damageDidAppear?(damage) } }

  /// The revisions from the first commit, or from the oldest state that was not pruned.
  private func reach() async throws -> ClosedRange<Revision> {
    let status = try await status()
    let first = max(1, status.oldest)
    return first...max(first, status.head.revision)
  }

  /// Reads a past board with a few requests, regardless of the number of notes.
  private func past(_ request: PastBoard) async throws -> PastContents {
    let past = graph(at: request.revision)
    var found = try await notes(request, in: past)
    try await addLinks(to: &found, request, in: past)
    // A fetch that names a damaged board is refused.
    let boards = try await past.fetchReadable(Board.self)
    report(boards.damage)
    if let board = boards.objects.first(where: { $0.id == request.board }) {
      (found.name, found.color) = (board.name, PaperColor(name: board.color.rawValue))
    } else if boards.damage.objects.contains(where: { $0.key == request.board.key }) {
      found.name = "damaged"
    }
    // The commit of the oldest state may have been pruned.
    if let commit = try? await log(after: request.revision - 1, through: request.revision, limit: 1, changes: 0).first {
      found.commit = PastCommit(revision: commit.revision, time: commit.time, author: commit.author)
    }
    found.reach = try await reach()
    return found
  }

  /// Reads all notes, or of a large board the uppermost ones of a region, as the live board does.
  private func notes(_ request: PastBoard, in past: PastGraph) async throws -> PastContents {
    let all = BoardPage.notes(of: request.board, in: context.model)
    if !request.isLarge {
      let (notes, damage) = try await past.fetchReadable(
        Note.self, where: all.predicate, sort: all.sort, limit: BoardPage.maximumNotes + 1)
      if notes.count + damage.objects.count <= BoardPage.maximumNotes {
        report(damage)
        return try await contents(notes, in: past)
      }
    }
    let (notes, damage) = try await past.fetchReadable(
      Note.self, where: .all([all.predicate, request.region.notes]), sort: [SortKey](Note.self, [\.z.descending]),
      limit: BoardWindow.maximumNotes)
    report(damage)
    var found = try await contents(notes, in: past)
    found.region = request.region
    return found
  }

  private func contents(_ notes: [Note], in past: PastGraph) async throws -> PastContents {
    do {
      try await past.load([\.tags], of: notes)
    } catch let refusal as Refusal where refusal.code == .unavailable {
      // A damaged tag was named by its id. The notes are shown without it.
      report(try await past.fetchReadable(Tag.self).damage)
    }
    return PastContents(notes: notes.map { PastNote(id: $0.id, values: NoteValues($0)) })
  }

  private func addLinks(to found: inout PastContents, _ request: PastBoard, in past: PastGraph) async throws {
    let all = BoardPage.links(of: request.board, in: context.model).predicate
    let (links, damage) = try await past.fetchReadable(
      Link.self, where: found.region.map { .all([all, $0.links]) } ?? all, limit: BoardPage.maximumLinks + 1)
    report(damage)
    guard links.count <= BoardPage.maximumLinks else {
      return found.linksAreMissing = BoardPage.linksAreMissing(Replica.tooMany(BoardPage.maximumLinks))
    }
    found.links = links.compactMap { link in
      guard let from = link.from?.id, let to = link.to?.id else { return nil }
      return PastLink(from: from, to: to, label: link.label)
    }
  }
}
