import GraphModel
import GraphReplica
import Testing

/// The plugin generates the classes of each model that the target lists in `.graph-models`.
@Suite struct PluginTests {
  @Test func targetHasClassesOfTheModelsThatItLists() {
    #expect([CompanyModel.model.name, MuseumModel.model.name] == ["Company", "Museum"])
    // The table of classes has no abstract entities.
    #expect(MuseumModel.classes.count == MuseumModel.model.entities.count { !$0.isAbstract })
    let painting: Exhibit.Type = Painting.self
    #expect(painting.entityName == "Painting")
  }
}
