import GraphModel

extension FolderList {
  /// Says what is about to be sent, so that a run that is cut can be told from one that was not.
  public mutating func send(
    edits: [FolderChanges.Edit], new: [(file: FolderChanges.New, origin: String)], replica: UniqueID, after: Revision
  ) {
    var files = [Sent]()
    for edit in edits {
      let id = edit.theirs.id
      var values = edit.note.values
      for conflict in edit.merge.conflicts { values[conflict.field] = nil }
      files.append(
        Sent(file: edit.file, id: id, origin: nil, text: edit.note.text(over: self[id]?.text ?? ""), values: values))
    }
    for (new, origin) in new {
      files.append(
        Sent(file: new.file, id: nil, origin: origin, text: new.note.text(over: ""), values: new.note.values))
    }
    sending = Sending(replica: replica, after: after, files: files)
  }

  /// What was sent is in the store: the files' words are the server's now, merged there with those of others.
  /// - Parameter notes: the new notes, by origin. One that is not there is a new file still.
  public mutating func settle(notes: [ByteKey: NoteSnapshot]) {
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

extension FolderList {
  /// The server no longer knows what was committed up to `oldest`: an edit of what was written before can't be moved over
  /// that. So it is moved over the difference between what the file was written from and the note as it is, which both are
  /// still there.
  /// The same goes for a note that was deleted and brought back since: nothing is moved over that.
  /// - Parameters:
  ///   - notes: the notes as they are.
  ///   - revived: those that were brought back.
  /// - Returns: the notes of which that holds from now on.
  public mutating func detach(
    upTo oldest: Revision, from notes: [NoteSnapshot], revived: Set<UniqueID> = []
  ) -> [UniqueID] {
    var detached = [UniqueID]()
    for note in notes {
      guard var entry = self[note.id], !entry.isDetached,
        entry.revision <= oldest || revived.contains(note.id),
        entry.revision != note.revision || !Bytes.equal(entry.text, note.text) || entry.values != note.values
      else { continue }
      entry.isDetached = true
      self[note.id] = entry
      detached.append(note.id)
    }
    return detached
  }
}
