/// The values that the server assigns: numbers of sequences, times and creators, after all edits and deletes.
struct AssignedValues {
  /// The time of the commit.
  let now: Timestamp
  /// The id of the principal, for creators; nil leaves them null.
  let author: String?
  /// The next number of each sequence that the transaction uses. A model has few sequences.
  private(set) var sequences = [(property: PropertyNumber, next: Int64)]()

  init(now: Timestamp, author: String?) { (self.now, self.author) = (now, author) }

  /// Assigns the values that are due in the touched objects.
  mutating func stamp(_ graph: DraftGraph, _ findings: inout PlanFindings) {
    guard graph.touchedEntities.contains(where: { !$0.assignedProperties.isEmpty }) else { return }
    for draft in graph.order where !draft.isDeleted {
      for property in draft.entity.assignedProperties {
        guard let assignment = property.attribute?.assignment else { continue }
        let isInsert = draft.before == nil
        let isMissing = draft.after[property].isNull
        // A revived object that is older than an optional property stays without a value; a required one is assigned.
        let isDue = isMissing && isInsert && !(draft.isRevived && property.isOptional)
        switch assignment {
        case .sequence where isDue:
          let known = sequences.firstIndex { $0.property == property.number }
          let next = known.map { sequences[$0].next } ?? graph.reader.nextInSequence(property.number)
          guard next < .max else {
            findings.addViolation(
              draft.after.id, property, "assigned", .null,
              "\(draft.entity.name).\(property.name) has no number left in its sequence")
            continue
          }
          draft.after[property] = .integer(next)
          if let known { sequences[known].next = next + 1 } else { sequences.append((property.number, next + 1)) }
        case .created where isDue: draft.after[property] = .date(now)
        case .creator where isDue: draft.after[property] = author.map(Value.string).orNull
        case .updated where isInsert ? isDue : hasChanged(draft):
          draft.after[property] = .date(now)
        default: break
        }
      }
    }
  }

  /// Whether the object changed, other than to make space for other members.
  private func hasChanged(_ draft: Draft) -> Bool {
    guard let before = draft.before, !draft.spacing.isEmpty else { return draft.before?.values != draft.after.values }
    return draft.entity.storedProperties.contains { property in
      !draft.spacing.contains(property.number) && before[property] != draft.after[property]
    }
  }
}
