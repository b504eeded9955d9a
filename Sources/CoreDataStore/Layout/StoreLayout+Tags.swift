import GraphModel

/// Whether the bytes of a column have a tag of external storage, which a store does not say.
extension StoreLayout {
  func checkTags() throws {
    for name in untagged.union(tagged).sorted() where StoreNames.property(name, in: model)?.attribute?.kind != .data {
      throw Refusal(.malformed, "the model \(model.name) has no attribute \(name) of the type data")
    }
    if let name = untagged.intersection(tagged).min() {
      throw Refusal(.malformed, "\(name) can't be both --tagged and --untagged")
    }
  }

  /// Whether the bytes of a column may have a tag: if the caller says so, if an earlier import has decided so, if a
  /// value refers to a file, or if a value has a tag before a file of a known format. A byte that is not proved to be
  /// a tag stays; a later value can prove it. In a column with tags each value is read by its own first byte, as the
  /// app may have stored some before it used external storage.
  mutating func isTagged(_ property: Property, _ column: Int, _ table: Int) throws -> Bool {
    let isTagged = try decideTag(property, column, table)
    if let isTagged { decisions.tags[name(property)] = isTagged }
    return isTagged == true
  }

  /// - Returns: nil without a reason for either.
  private mutating func decideTag(_ property: Property, _ column: Int, _ table: Int) throws -> Bool? {
    if untagged.contains(name(property)) { return false }
    if tagged.contains(name(property)) { return true }
    let earlier = decision(property, in: self.earlier.tags)
    if earlier == false { return false }
    let value = StoreDatabase.quoted(file.tables[table].columns[column])
    // The condition keeps SQLite from reading a value that is too large.
    let rows = try file.database.statement(
      """
      SELECT CASE WHEN length(\(value)) <= \(StoreDatabase.maximumValueSize) THEN substr(\(value), 1, 38) END, \
      length(\(value)) FROM \(quoted(table)) WHERE typeof(\(value)) = 'blob'
      """)
    var (files, inFormat, ones, others) = (0, 0, 0, 0)
    while try rows.step() {
      guard case .blob(let bytes) = rows.value(0), let size = rows.integer(1), size > 0 else { continue }
      // Only a value of the size of a reference is one.
      switch ExternalStorage.form(size > 38 ? bytes + [0] : bytes) {
      case .file: files += 1
      case .taggedFile: inFormat += 1
      case .one: ones += 1
      case .other: others += 1
      }
    }
    if earlier == true, files + inFormat + ones == 0 { return true }
    if files > 0 || inFormat > 0 || earlier == true {
      let untagged = others > 0 ? ", without a tag: \(others)" : ""
      remark(
        name(property),
        "the first byte of its values is read as a tag of external storage (in files: \(files), in the store: "
          + "\(inFormat + ones)\(untagged)); if it is data, name the attribute with --untagged", 0)
      return true
    }
    if ones > 0 {
      remark(
        name(property),
        "values begin with the byte 1, which is data or a tag of external storage, and the import keeps this byte; if it "
          + "is a tag, name the attribute with --tagged, otherwise with --untagged", ones)
    }
    return nil
  }
}
