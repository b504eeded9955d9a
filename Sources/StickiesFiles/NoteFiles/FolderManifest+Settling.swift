import GraphModel

extension FolderManifest {
  /// Records the edits about to be sent, so that the next run can detect an interrupted one.
  public mutating func send(
    edits: [FolderChanges.Edit], new: [(file: FolderChanges.NewFile, origin: String)], replica: UniqueID,
    after: Revision
  ) {
    var files = [PendingChanges]()
    for edit in edits {
      let id = edit.theirs.id
      guard let entry = self[id] else { preconditionFailure("a file with edits is listed: \(edit.file)") }
      var values = edit.note.values
      for conflict in edit.merge.conflicts { values[conflict.field] = nil }
      files.append(
        PendingChanges(
          file: edit.file, id: id, origin: nil, text: edit.note.text(over: entry.text), values: values))
    }
    for (new, origin) in new {
      files.append(
        PendingChanges(file: new.file, id: nil, origin: origin, text: new.note.text(over: ""), values: new.note.values))
    }
    assert(sending == nil, "an earlier commit is settled before the next one")
    sending = PendingCommit(replica: replica, after: after, files: files)
  }

  /// Updates the entries after a commit: the files' contents are now on the server, merged with other clients'
  /// changes.
  /// - Parameter notes: the new notes, by origin. A file whose origin is missing stays a new file.
  public mutating func completeSending(notes: [ByteKey: NoteSnapshot]) {
    guard let sending else { return }
    self.sending = nil
    for sent in sending.files {
      if let id = sent.id, var entry = self[id] {
        entry.text = sent.text
        for field in NoteField.allCases where sent.values[field] != nil { entry.values[field] = sent.values[field] }
        entry.isDetached = true
        self[id] = entry
      } else if let note = sent.origin.flatMap({ notes[$0] }) {
        var entry = Entry(
          file: sent.file, id: note.id, revision: note.revision, text: sent.text,
          values: note.values.merging(sent.values) { $1 })
        (entry.isDetached, entry.isUnmarked) = (true, true)
        self[note.id] = entry
      }
    }
  }
}

extension FolderManifest {
  /// Detaches the entries whose base revision was pruned, or whose note was deleted and restored since.
  ///
  /// The server no longer has the commits up to `oldest`, so it cannot rebase an edit of an older state over them,
  /// nor over a delete and a restore. The client then rebases the edit over the difference between the text that the
  /// file was written from and the current note; it has both.
  /// - Parameters:
  ///   - notes: the current notes.
  ///   - revived: the notes that were restored.
  /// - Returns: the notes whose entries were detached.
  public mutating func detach(
    upTo oldest: Revision, from notes: [NoteSnapshot], revived: Set<UniqueID> = []
  ) -> [UniqueID] {
    var detached = [UniqueID]()
    for note in notes {
      guard var entry = self[note.id], !entry.isDetached,
        entry.revision <= oldest || revived.contains(note.id),
        entry.revision != note.revision || !UTF8Comparison.equal(entry.text, note.text) || entry.values != note.values
      else { continue }
      entry.isDetached = true
      self[note.id] = entry
      detached.append(note.id)
    }
    return detached
  }
}
