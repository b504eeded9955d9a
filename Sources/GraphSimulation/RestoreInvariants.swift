import GraphModel

/// The invariants of a committed restore, checked against the recorded graph of the restored revision.
struct RestoreInvariants {
  let recorder: GraphRecorder
  let model: Model

  func failure(
    of request: RestoreRequest, _ record: CommitRecord, _ after: RecordedGraph, _ happened: inout CoverageEventCounts
  ) -> String? {
    let (root, isWhole): (ObjectID, Bool)
    switch request.scope {
    case .object(let id): (root, isWhole) = (id, false)
    case .contents(let id): (root, isWhole) = (id, true)
    case .everything: return nil
    }
    let wasThere = recorder.state(record.revision - 1)?.images[root] != nil
    let newest = recorder.deletion(of: root, before: record.revision)
    guard let revision = request.revision ?? newest.map({ $0 - 1 }), let past = recorder.state(revision) else {
      return "revision \(record.revision) restores \(root), which was never deleted"
    }
    happened.record(wasThere ? .restoredOverPresent : isWhole ? .restoredContents : .restored)
    if let reason = difference(of: root, past, after) {
      return "revision \(record.revision) restores \(root) as of \(revision): \(reason)"
    }
    guard isWhole, let item = model.entity(named: "Item"), let folder = item.property(named: "folder") else {
      return nil
    }
    for image in past.images.values where image.id.entity == item.number && image[folder].objectID == root {
      if let reason = difference(of: image.id, past, after) {
        return "revision \(record.revision) restores what was in \(root): \(image.id) \(reason)"
      }
      if after.images[image.id]?[folder].objectID != root { return "\(image.id) is not in \(root) again" }
    }
    return nil
  }

  private func difference(of id: ObjectID, _ past: RecordedGraph, _ after: RecordedGraph) -> String? {
    guard let wanted = past.images[id] else { return "was not there then" }
    guard let now = after.images[id] else { return "is not there" }
    for property in model.storedProperties(of: id.entity) {
      let isKept = property.isPlainAttribute || property.attribute?.assignment == .sequence
      if isKept, wanted[property] != now[property] {
        return "\(property.name) is \(now[property]) and was \(wanted[property])"
      }
    }
    return nil
  }
}
