import GraphControllers
import GraphModel

/// The calls that a results controller makes, as lines; the count that it reports goes before each.
final class ResultsTranscript: ResultsControllerDelegate {
  private(set) var lines = [String]()

  func taken() -> [String] {
    defer { lines = [] }
    return lines
  }

  private func log(_ controller: ResultsController, _ line: String) { lines.append("\(controller.count): \(line)") }

  private func name(_ id: ObjectID) -> String { "\(id.key.low)" }

  private func text(_ name: Value?) -> String { name.map { $0.stringValue ?? "\($0)" } ?? "-" }

  func resultsWillChange(_ controller: ResultsController) { log(controller, "will change") }

  func results(_ controller: ResultsController, didChange section: ResultsSectionChange) {
    switch section {
    case .removed(let name, let index): log(controller, "section \(text(name)) removed from \(index)")
    case .inserted(let name, let index): log(controller, "section \(text(name)) inserted at \(index)")
    }
  }

  func results(_ controller: ResultsController, didChange object: ResultsObjectChange) {
    switch object {
    case .removed(let id, let old): log(controller, "\(name(id)) removed from \(old)")
    case .inserted(let id, let new): log(controller, "\(name(id)) inserted at \(new)")
    case .moved(let id, let old, let new, _): log(controller, "\(name(id)) moved from \(old) to \(new)")
    case .updated(let id, let old, let new, let properties):
      log(controller, "\(name(id)) updated from \(old) at \(new)" + (properties.map { ", \($0.count) of it" } ?? ""))
    }
  }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    log(controller, "did change \(difference.countBefore) to \(difference.countAfter)")
  }

  func results(_ controller: ResultsController, didFail refusal: Refusal) {
    log(controller, "failed: \(refusal.message)")
  }
}

/// Needs to know only that something changed.
final class ReloadingDelegate: ResultsControllerDelegate {
  private(set) var count = 0

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { count += 1 }
}
