import ArgumentParser
import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import StickiesKit

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Follow changes as they happen, one line each; everything, or the notes that match.")

  @OptionGroup var options: Options
  @OptionGroup var filter: Filter
  @Option(help: "Begin behind this revision instead of with what there is.")
  var since: Revision?

  func validate() throws {
    if let since, since < 0 { throw ValidationError("--since takes a revision from 0") }
  }

  @MainActor
  func run() async throws {
    try await options.withShell(reconnects: true) { shell in
      let predicate = try await filter.predicate(shell)
      let entities =
        filter.condition == nil && filter.board == nil
        ? shell.model.entities.filter { !$0.isAbstract && $0.parent == nil } : [shell.entity("Note")]
      var token: Token?
      if let since {
        guard let head = shell.client.welcome?.head, since <= head.revision else {
          throw Refusal(.notFound, "there is no revision \(since) yet")
        }
        token = try await Self.token(of: since, head, shell)
      }
      let printer = WatchPrinter(shell: shell, count: entities.count, since: since)
      shell.client.stateDidChange = { state in
        if case .reconnecting(1) = state {
          StandardError.write("stickies: the connection was lost; trying again")
        }
      }
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        var hasEnded = false
        shell.client.watch(entities.map { ($0, predicate) }, since: token) { event in
          if case .ended(let refusal) = event {
            guard !hasEnded else { return }
            hasEnded = true
            return continuation.resume(throwing: refusal)
          }
          printer.take(event)
        }
      }
    }
  }

  /// A revision alone is no proof of a shared past; the log knows the commit, and asking by the head's token does for
  /// the newest.
  @MainActor
  private static func token(of revision: Revision, _ head: Token, _ shell: Shell) async throws -> Token {
    if revision == head.revision { return head }
    if revision == 0 { return Token(store: head.store, revision: 0, fingerprint: 0) }
    guard let entry = try await shell.client.log(after: revision - 1, through: revision, limit: 1).first else {
      throw Refusal(.notFound, "the log does not hold revision \(revision)")
    }
    return Token(store: head.store, revision: revision, fingerprint: entry.fingerprint)
  }
}

/// Puts together what several queries say into one snapshot and one line for each change.
@MainActor
final class WatchPrinter {
  private let shell: Shell
  private var missing: Int
  private var snapshot = [ObjectImage]()
  private var revision: Revision = 0
  private var isShown = false
  private let since: Revision?

  init(shell: Shell, count: Int, since: Revision?) {
    self.shell = shell
    missing = count
    self.since = since
  }

  func take(_ event: GraphClient.WatchEvent) {
    switch event {
    case .loaded(_, let images, let at):
      snapshot += images
      revision = max(revision, at.revision)
      missing -= 1
      if missing <= 0 { showSnapshot() }
    case .resumed(_, let since):
      missing -= 1
      if missing <= 0, !isShown { showSince(since) }
    case .changed(let update):
      if shell.output.json {
        let changes = update.changes.flatMap(\.changes)
        shell.output.print(
          ObjectJSON.commit(
            revision: update.revision, author: update.author, time: update.time, changes, shell.model))
      } else {
        for change in update.changes.flatMap(\.changes) { show(change, update) }
      }
    case .ended: break
    }
  }

  private func showSnapshot() {
    isShown = true
    if shell.output.json {
      shell.output.print(
        JSON.object([
          .init("revision", .integer(revision)),
          .init("snapshot", .array(snapshot.map { ObjectJSON.object($0, shell.model) })),
        ]))
    } else {
      let notes = snapshot.count { shell.model.entity($0.id.entity)?.name == "Note" }
      shell.output.print(shell.output.dim("revision \(revision): \(Output.count(notes, "note")); changes follow"))
    }
    snapshot = []
    missing = 0
  }

  private func showSince(_ since: Revision) {
    isShown = true
    let from = self.since ?? since
    if shell.output.json {
      shell.output.print(JSON.object([.init("revision", .integer(from)), .init("since", .integer(from))]))
    } else {
      shell.output.print(shell.output.dim("changes since revision \(from) follow"))
    }
  }

  private func show(_ change: Delta.Change, _ update: CommitUpdate) {
    let sign: String
    var detail = ""
    switch change.kind {
    case .inserted: sign = "+"
    case .updated:
      sign = "~"
      let names = change.edits.compactMap { shell.model.property($0.property)?.name }.filter { $0 != "updated" }
      detail = "  (\(names.joined(separator: ", ")))"
    case .removed:
      sign = "-"
      detail = change.deleted ? "" : "  (no longer matches)"
    }
    let what = change.object.map { shell.output.line($0) } ?? change.id.description
    let when = shell.output.dim("\(Output.localTime(update.time)) \(TextTable.visible(update.author))")
    shell.output.print("\(when) \(sign) \(what)\(detail)")
  }
}
