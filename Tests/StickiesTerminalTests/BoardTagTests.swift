import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The offered names of tags, and names that are not available.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardTagTests {
  private func tag(_ name: String, _ stage: BoardFixture) async throws -> StickiesKit.Tag {
    let tag = StickiesKit.Tag(in: stage.other.context)
    tag.name = name
    try await stage.other.save()
    return tag
  }

  @Test func focusStaysOnTagDuringRemoteChanges() async throws {
    let stage = try await BoardFixture()
    _ = try await tag("shop", stage)
    let work = try await tag("work", stage)
    let ann = try await stage.open()
    ann.terminal.types("f")
    await ann.terminal.expects("#work")
    ann.terminal.press(.end)
    ann.terminal.types(" ")
    await ann.terminal.expects("only #work")
    // Another tag is inserted before it and removed again.
    let apples = try await tag("apples", stage)
    await ann.terminal.expects("#apples")
    ann.terminal.types(" ")
    await ann.terminal.expectsNo("only #")
    stage.other.context.delete(apples)
    try await stage.other.save()
    await ann.terminal.expectsNo("#apples")
    ann.terminal.types(" ")
    await ann.terminal.expects("only #work")
    ann.terminal.types(" ")
    await ann.terminal.expectsNo("only #")
    // The tag itself moves.
    work.name = "books"
    try await stage.other.save()
    await ann.terminal.expects { $0.text.contains("#books") && !$0.text.contains("#work") }
    ann.terminal.types(" ")
    await ann.terminal.expects("only #books")
    await stage.close()
  }

  @Test func tooManyTagsAreReportedAndReloadedOnDemand() async throws {
    let stage = try await BoardFixture()
    let entity = try #require(StickiesModel.model.entity(named: "Tag"))
    let name = try #require(entity.property(named: "name"))
    _ = try await stage.other.batchInsert(
      entity, [name], rows: (0...TagNames.maximumTags).map { [.string("t\($0)")] })
    let ann = try await stage.open()
    ann.terminal.types("f")
    await ann.terminal.expects { $0.text.contains("there are more than 2000 tags") && !$0.text.contains("#t1") }
    ann.terminal.press(.escape)
    let last = try #require(try await stage.other.fetch(StickiesKit.Tag.self, where: "name == 't2000'").first)
    stage.other.context.delete(last)
    try await stage.other.save()
    ann.terminal.types("f")
    await ann.terminal.expects("#t1")
    await stage.close()
  }

  @Test func otherRefusalIsShownWithServerMessage() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let model = StickiesModel.model
    let (links, tags) = (model.entity(named: "Link")?.number, model.entity(named: "Tag")?.number)
    let proxy = try stage.proxy()
    proxy.refuse([try #require(links): Refusal(.limit, "too many lines")])
    let ann = try await stage.open(through: proxy)
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("too many lines") }
    proxy.refuse([try #require(tags): Refusal(.limit, "too many words")])
    ann.terminal.types("f")
    let grid = await ann.terminal.expects("too many words")
    #expect(!grid.text.contains("there are more than"))
    proxy.stop()
    await stage.close()
  }

  @Test func refusedTagListIsReportedAndRetried() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("first")
    let model = StickiesModel.model
    let (boards, notes) = (model.entity(named: "Board")?.number, model.entity(named: "Note")?.number)
    let refusal = Refusal(.limit, "too many")
    let proxy = try stage.proxy()
    proxy.refuse([try #require(boards): refusal])
    let ann = try await stage.open(through: proxy)
    await ann.terminal.expects {
      $0.text.contains("first") && $0.text.contains("the boards can't be listed: too many")
        && !$0.text.contains("● ○")
    }
    proxy.refuse([:])
    // A switch to another board requests them again.
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects { $0.text.contains("● ○") && $0.text.contains("first") }
    proxy.refuse([try #require(notes): refusal])
    ann.terminal.types("vg")
    await ann.terminal.expects {
      $0.text.contains("the list has no sections: too many") && !$0.text.contains("Yellow (1)")
    }
    proxy.refuse([:])
    ann.terminal.types("g")
    await ann.terminal.expects("Yellow (1)")
    proxy.stop()
    await stage.close()
  }
}
