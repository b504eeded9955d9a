import CoreDataModels
import GraphModel
import Testing

/// Every public model converts, and reports exactly the expected lines.
@Suite struct PublicModelsTests {
  @Test(arguments: Fixture.all) func versionsHaveTheirParts(fixture: Fixture) throws {
    let versions = try fixture.conversion().versions
    #expect(versions.map(\.number) == Array(1...fixture.versions.count))
    let counts = versions.map { version in
      let properties = version.entities.flatMap(\.properties)
      let attributes = properties.count { $0.type != nil }
      return Fixture.Version(
        version.sourceName, version.model.entities.count, attributes, properties.count - attributes,
        isCurrent: version.isCurrent)
    }
    #expect(counts == fixture.versions)
  }

  @Test(arguments: Fixture.all) func everyExpectedLineIsReported(fixture: Fixture) throws {
    let conversion = try fixture.conversion()
    let folder = fixture.file.dropLast(fixture.path.split(separator: "/").last?.count ?? 0)
    let lines = conversion.findings.map { String("\($0)".dropFirst(folder.count)) }
    let expected = try Fixture.text("Expected/\(fixture.expected).txt").split(separator: "\n").map(String.init)
    #expect(lines.filter { !expected.contains($0) } == [], "not expected")
    #expect(expected.filter { !lines.contains($0) } == [], "not reported")
    #expect(lines == expected, "in another order")
  }

  /// No part disappears without a line about it.
  @Test(arguments: Fixture.all) func everyPartIsConvertedOrReported(fixture: Fixture) throws {
    let conversion = try fixture.conversion()
    for version in conversion.versions {
      let lines = conversion.findings.filter { $0.file.contains("\(version.sourceName).xcdatamodel") }
      for entity in version.source.entities {
        let converted = try #require(version.entity(named: entity.name))
        #expect(version.model.entity(named: converted.name) != nil)
        let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        for name in names {
          let isReported = lines.contains { $0.kind == .leftOut && $0.subject == "\(entity.name).\(name)" }
          #expect(isReported || converted.properties.contains { $0.source == name }, "\(entity.name).\(name)")
        }
      }
    }
  }

  @Test(arguments: Fixture.all) func modelOfNamesIsTheLoadedModel(fixture: Fixture) throws {
    for version in try fixture.conversion().versions {
      let model = try Model(parsing: version.text.utf8)
      #expect(model.hash == version.model.hash)
      #expect(model.version == version.number)
      for entity in version.entities {
        let loaded = try #require(model.entity(named: entity.name))
        for property in entity.properties {
          let isThere =
            loaded.property(named: property.name) != nil || loaded.composites.contains { $0.name == property.name }
          #expect(isThere, "\(entity.name).\(property.name)")
        }
      }
    }
  }

  /// The conditions of `stickiesd migrate`.
  @Test(arguments: Fixture.all) func storeCanBeMigratedThroughAllVersions(fixture: Fixture) throws {
    let models = try fixture.conversion().versions.map(\.model)
    for (old, new) in zip(models, models.dropFirst()) {
      #expect(throws: Never.self) { try MigrationPlan.infer(from: old, to: new) }
      #expect(MigrationPlan.undetectedChange(from: old, to: new) == nil)
    }
    var hashes = [ModelHash]()
    for model in models where hashes.last != model.hash {
      #expect(!hashes.contains(model.hash), "version \(model.version) has the hash of an earlier version")
      hashes.append(model.hash)
    }
  }

  @Test func madeModelGivesExpectedFiles() throws {
    let fixture = try #require(Fixture.all.first { $0.expected == "made-Everything" })
    let conversion = try fixture.conversion()
    #expect(conversion.name == "Everything")
    for version in conversion.versions {
      #expect(try version.text == Fixture.text("Expected/Everything-\(version.number).json"))
    }
    #expect(conversion.current.sourceName == "Everything 10")
  }

  @Test func renamingIdentifierKeepsValues() throws {
    let fixture = try #require(Fixture.all.first { $0.expected == "synthetic-Gaps" })
    let models = try fixture.conversion().versions.map(\.model)
    let plan = try MigrationPlan.infer(from: models[0], to: models[1])
    let steps = plan.steps.map(\.description)
    #expect(steps.contains("Keeper was called Owner"))
    #expect(steps.contains("Animal.keeper was called owner"))
    #expect(steps.contains("Bird.wingspanMetres was called wingSpan"))
    #expect(plan.removedEntities.isEmpty && plan.removedProperties.isEmpty)
  }

  /// Every later version can read a store of the first one.
  @Test func laterVersionsOfPublicModelsStateTheEarlierNames() throws {
    let moody = try #require(Fixture.all.first { $0.expected == "objcio-Moody" })
    let moods = try moody.conversion().versions.dropFirst().map { $0.model.entity(named: "Mood") }
    #expect(moods.count == 5)
    for mood in moods { #expect(mood?.property(named: "remoteID")?.renamed == "remoteIdentifier") }
    let cars = try #require(Fixture.all.first { $0.expected == "alemar11-SampleModel" })
    let luxury = try cars.conversion().versions.map { $0.model.entity(named: "LuxuryCar")?.renamed }
    #expect(luxury == [nil, "ExpensiveSportCar", "ExpensiveSportCar"])
  }
}
