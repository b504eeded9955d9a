import GraphModel
import Testing

/// Strings are distinguished as the store distinguishes them.
@Suite struct ByteKeyTests {
  private static let one = "caf\u{E9}"
  private static let two = "cafe\u{301}"

  @Test func canonicallyEquivalentStringsAreDistinctKeys() {
    #expect(Self.one == Self.two)
    var values = [ByteKey: Int]()
    values[Self.one] = 1
    values[Self.two] = 2
    #expect(values[Self.one] == 1 && values[Self.two] == 2 && values.count == 2)
    var names = Set<ByteKey>()
    #expect(names.insert(Self.one).inserted && names.insert(Self.two).inserted)
    #expect(names.remove(Self.one)?.text == Self.one && !names.contains(Self.one) && names.contains(Self.two))
    #expect([ByteKey("é"), ByteKey("z"), ByteKey("e\u{301}")].sorted().map { $0.text.utf8.count } == [3, 1, 2])
  }

  @Test func modelComparisonsUseBytes() {
    func group(_ name: String) -> UndoGroup { UndoGroup(scope: .zero, group: 1, name: name) }
    #expect(group(Self.one) == group(Self.one) && group(Self.one) != group(Self.two))
    func conflict(_ author: String) -> Conflict {
      Conflict(kind: .changed, id: .temporary(1, entity: 1), mine: .string(Self.one), author: author)
    }
    #expect(conflict(Self.one) == conflict(Self.one) && conflict(Self.one) != conflict(Self.two))
    let splices = [Self.one, Self.two].map { TextSplice(offset: 0, length: 0, insertion: $0) }
    #expect(splices[0] != splices[1])
    #expect(Edit(1, .splice([splices[0]])) != Edit(1, .splice([splices[1]])))
    #expect(!TextSplice.differences(from: Self.one, to: Self.two).isEmpty)
  }
}
