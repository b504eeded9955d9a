import GraphModel
import GraphOffline
import TerminalApplication

/// The commands of the replica: sync on and off, resync, delete everywhere, and those of the edits in conflict.
final class SyncController: BoardPart {
  let services: BoardServices
  /// Whether an operation is running; another one is refused until its end.
  private(set) var isRunning = false
  private let connection: ConnectionMonitor
  private let questions: QuestionController

  init(_ services: BoardServices, _ connection: ConnectionMonitor, _ questions: QuestionController) {
    (self.services, self.connection, self.questions) = (services, connection, questions)
  }

  /// The state of the replica.
  var summary: SyncSummary { connection.sync }

  /// Whether a command applies now.
  func allows(_ command: Command) -> Bool {
    switch command {
    case .syncOn: return !summary.isOn
    case .syncOff: return summary.isOn
    // The server makes the copy; while sync is off, it may be there.
    case .resync: return summary.status != nil && !(summary.isOffline && summary.isOn)
    case .deleteEverywhere: return summary.isOn && !summary.isOffline && summary.waiting == 0
    default: return true
    }
  }

  /// Reports what the user has not caused: edits that came into conflict, and a server that takes none.
  func syncDidChange(from old: SyncSummary) {
    let news = summary.parked.count - old.parked.count
    if old.status != nil, news > 0 {
      let sentence = news == 1 ? "an edit is in conflict: C shows it" : "\(news) edits are in conflict: C shows them"
      report(sentence, isTrouble: true)
    }
    if summary.notice != old.notice, !summary.notice.isEmpty { report(summary.notice, isTrouble: true) }
    if summary.trouble != old.trouble, !summary.trouble.isEmpty { report(summary.trouble, isTrouble: true) }
    application.setNeedsDisplay()
  }

  // MARK: - Conflicts

  /// Shows the edits in conflict.
  func showConflicts() { services.modals.begin(ConflictsWindow(for: self)) }

  /// Sends an edit again, with what the user sees now as its base.
  func retry(_ edit: OfflineReplica.ParkedEdit) { run(.retry(edit.number)) }

  /// Opens the JSON form of an edit in the editor, and sends what comes back.
  func edit(_ edit: OfflineReplica.ParkedEdit) {
    guard connection.allowsChanges else { return }
    link.editOutside(edit.form) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let text) where UTF8Comparison.equal(text, edit.form):
        report("the edit is unchanged; r sends it again")
      case .success(let text): run(.replace(edit.number, by: text))
      case .failure(let refusal): report(refusal.message, isTrouble: true)
      }
    }
  }

  /// Removes an edit after a confirmation.
  func discard(_ edit: OfflineReplica.ParkedEdit) {
    guard connection.allowsChanges else { return }
    let others: Int
    do {
      others = try link.sync.dependents(edit.number)
    } catch {
      let sentence = if let refusal = error as? Refusal { refusal.message } else { "\(error)" }
      return report(sentence, isTrouble: true)
    }
    var lines = ["Your values of edit \(edit.number) exist here only."]
    if others == 1 { lines.append("1 later edit of the same object goes with it.") }
    if others > 1 { lines.append("\(others) later edits of the same objects go with it.") }
    questions.ask(
      QuestionText(
        title: "Discard?", lines: lines,
        choices: [
          .init(key: "k", title: "Keep it") {},
          .init(key: "d", title: "Discard", isForGood: true) { [weak self] in self?.run(.discard(edit.number)) },
        ], cancel: {}))
  }

  /// Copies what the user wrote.
  func copy(_ edit: OfflineReplica.ParkedEdit) {
    services.clipboard.copy(ConflictText(edit, context.model).copied)
    report("your values are on the clipboard")
  }

  // MARK: - The replica

  /// Keeps a copy of the notes on this computer from now on.
  func turnOn() { run(.turnOn) }

  /// Stops sending and receiving after a confirmation.
  func turnOff() {
    guard connection.allowsChanges else { return }
    questions.ask(
      QuestionText(
        title: "Sync off?",
        lines: [
          "The board then shows this computer's copy: others do not see your changes, and you do not see theirs, until "
            + "sync is on again. Nothing is lost."
        ],
        choices: [.init(key: "o", title: "Sync off") { [weak self] in self?.run(.turnOff) }], cancel: {}))
  }

  /// Deletes the copy and loads it again, after a confirmation.
  func resync() {
    guard connection.allowsChanges else { return }
    let waiting = summary.waiting
    var choices = [
      QuestionText.Choice(key: "l", title: waiting == 0 ? "Load it again" : "Load it again, keep the edits") {
        [weak self] in self?.run(.resync(discardingUnsent: false))
      }
    ]
    var lines = ["The copy on this computer is deleted and loaded again. Nothing is deleted on the server."]
    if waiting > 0 {
      lines.append("\(waiting == 1 ? "1 edit was" : "\(waiting) edits were") not sent. They stay, or go to a file.")
      choices.append(
        .init(key: "d", title: "Move the edits to a file", isForGood: true) { [weak self] in
          self?.run(.resync(discardingUnsent: true))
        })
    }
    questions.ask(QuestionText(title: "Delete local and resync?", lines: lines, choices: choices, cancel: {}))
  }

  /// Deletes everything here and on the server, after a confirmation with the number of objects.
  func deleteEverywhere() {
    guard begin() else { return }
    link.sync.everything { [weak self] result in
      guard let self else { return }
      isRunning = false
      switch result {
      case .failure(let refusal): report(refusal.message, isTrouble: true)
      case .success(let objects): confirmDeletion(of: objects)
      }
    }
  }

  private func confirmDeletion(of objects: OfflineReplica.Everything) {
    if objects.isEmpty { return report("there is nothing to delete") }
    let what = objects.count == 1 ? "1 object" : "\(objects.count) objects"
    questions.ask(
      QuestionText(
        title: "Delete local and remote?",
        lines: [
          "\(what), boards and tags included, are deleted here and on the server, for everyone.",
          "Objects that others change meanwhile stay.",
        ],
        choices: [
          .init(key: "k", title: "Keep everything") {},
          .init(key: "d", title: "Delete everything", isForGood: true) { [weak self] in
            self?.run(.deleteEverywhere(objects))
          },
        ], cancel: {}))
  }

  // MARK: - Operations

  /// - Returns: whether an operation may begin.
  private func begin() -> Bool {
    guard connection.allowsChanges else { return false }
    if isRunning {
      report("wait for the operation that is running")
      return false
    }
    isRunning = true
    application.setNeedsDisplay()
    return true
  }

  private func run(_ operation: SyncOperation) {
    guard begin() else { return }
    link.sync.run(operation) { [weak self] result in
      guard let self else { return }
      isRunning = false
      switch result {
      case .success(let sentence): report(sentence, isTrouble: true)
      case .failure(let refusal): report(refusal.message, isTrouble: true)
      }
    }
  }
}
