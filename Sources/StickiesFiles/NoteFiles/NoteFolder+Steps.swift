import GraphModel

extension NoteFolder {
  /// The counts of written and removed files.
  public struct WriteCounts: Sendable, Equatable {
    /// The number of created or replaced files.
    public var written = 0
    /// The number of files removed with their notes.
    public var removed = 0

    /// Creates counts of zero.
    public init() {}
  }

  /// Performs the steps and records each outcome in the list.
  /// - Throws: `Refusal` after a disk error; the list contains the steps completed before.
  public func perform(_ steps: [FolderWritePlan.Step], _ list: inout FolderManifest) throws -> WriteCounts {
    var result = WriteCounts()
    for step in steps {
      switch step {
      case .create(let bytes, let entry):
        // If the name was taken meanwhile, the next run uses another one.
        guard try create(entry.file, bytes) else { continue }
        result.written += 1
        list[entry.id] = entry
      case .replace(let bytes, let old, let entry, let otherwise):
        let isDone = try replace(entry.file, bytes, over: old)
        if isDone { result.written += 1 }
        list[entry.id] = isDone ? entry : otherwise
      case .remove(let old, let entry):
        guard try remove(entry.file, over: old) else { continue }
        result.removed += 1
        list[entry.id] = nil
      case .keep(let entry): list[entry.id] = entry
      case .forget(let entry): list[entry.id] = nil
      }
    }
    return result
  }
}
