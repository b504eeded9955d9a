import GraphModel

extension NoteFolder {
  /// What a run wrote.
  public struct Written: Sendable, Equatable {
    /// Files that were made or written anew.
    public var written = 0
    /// Files that went with their notes.
    public var removed = 0

    /// Nothing yet.
    public init() {}
  }

  /// Takes the steps, and says in the list what came of each.
  /// - Throws: `Refusal` when the disk does not take it; the list has what was done until then.
  public func perform(_ steps: [FolderWriting.Step], _ list: inout FolderList) throws -> Written {
    var result = Written()
    for step in steps {
      switch step {
      case .create(let bytes, let entry):
        // Something got the name meanwhile: the next run gives the note another one.
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
