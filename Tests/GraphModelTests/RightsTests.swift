import GraphModel
import Testing

/// Grants and the rights that they add up to.
@Suite struct RightsTests {
  private let here = UniqueID(high: 1, low: 1)
  private let there = UniqueID(high: 1, low: 2)

  @Test func rolesAreOrdered() {
    #expect(Role.allCases == Role.allCases.sorted())
    #expect(Role.names == "reader, commenter, editor, owner")
  }

  @Test func strongerRoleCounts() {
    let rights = Rights(
      user: "user:a", grants: [Grant(.reader), Grant(.editor, on: here), Grant(.commenter, on: here)])
    #expect(rights.role(in: here) == .editor && rights.role(in: there) == .reader && rights.role(in: nil) == .reader)
    #expect(rights.strongestRole == .editor)
    let owner = Rights(user: "user:a", grants: [Grant(.owner), Grant(.reader, on: here)])
    #expect(owner.role(in: here) == .owner, "a grant on a scope takes nothing away")
  }

  @Test func scopedGrantSaysNothingOfTheRest() {
    let rights = Rights(user: "user:a", grants: [Grant(.owner, on: here)])
    #expect(rights.role == nil && rights.role(in: there) == nil && rights.role(in: nil) == nil)
    #expect(Rights(user: "user:a", grants: []).strongestRole == nil)
  }

  @Test(arguments: [
    (Role?.none, Role?.none, Role?.none), (.reader, nil, .reader), (.commenter, nil, .commenter),
    (.owner, nil, .commenter), (.owner, .reader, .commenter), (.reader, .editor, .editor), (nil, .owner, .owner),
  ]) func sharedObjectsNeedARoleAnywhere(scope: Role?, store: Role?, shared: Role?) {
    let general = store.map { [Grant($0)] } ?? []
    let scoped = scope.map { [Grant($0, on: here), Grant(.reader, on: there)] } ?? []
    let rights = Rights(user: "a", grants: general + scoped)
    #expect(rights.sharedRole == shared)
  }

  @Test func orderOfGrantsHasNoMeaning() {
    let grants = [Grant(.reader), Grant(.editor, on: here), Grant(.commenter, on: there)]
    let (one, other) = (Rights(user: "a", grants: grants), Rights(user: "a", grants: grants.reversed()))
    #expect(one == other && one.hashValue == other.hashValue)
    #expect(one != Rights(user: "b", grants: grants) && one != Rights(user: "a", grants: grants.dropLast()))
  }

  @Test func usersAreComparedByBytes() {
    let (composed, decomposed) = ("user:\u{E9}", "user:e\u{301}")
    #expect(composed == decomposed, "Swift compares by canonical equivalence")
    #expect(Rights(user: composed, role: .editor) != Rights(user: decomposed, role: .editor))
  }
}
