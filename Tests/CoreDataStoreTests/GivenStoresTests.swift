import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// The stores of real apps: every row, some exact values, references, lists.
@Suite struct GivenStoresTests {
  @Test func subentitiesOfOneTableAreRead() throws {
    let store = try StoreFixture("Cars.sqlite").read()
    #expect(store.counts == ["Car": 115, "SportCar": 5, "ExpensiveSportCar": 5, "Person": 20])
    #expect(store.remarks == [])
    #expect(store.file.uuid == "753753D3-A961-4901-AB05-8CC48B1D3853")
    #expect(try store.value("Car 1", "maker") == .string("FIAT"))
    #expect(try store.value("Car 1", "model") == .string("Panda"))
    #expect(try store.value("Car 1", "numberPlate") == .string("170"))
    #expect(try store.value("Car 1", "markedForDeletionAsOf") == .null)
    #expect(try store.reference("Car 1", "owner") == "Person 17")
    #expect(try store.reference("Car 11", "owner") == "Person 9")
    #expect(try store.value("Person 1", "firstName") == .string("Victoria"))
    let id = try #require(
      UniqueID(bytes: [
        0xFE, 0xFE, 0x41, 0x76, 0x91, 0x2D, 0x42, 0x9F, 0x9C, 0x83, 0x66, 0x2F, 0xFF, 0x64, 0x11, 0x15,
      ]))
    #expect(try store.value("Person 1", "identifier") == .uuid(id))
    // 639503569.638733 seconds after 2001.
    #expect(try store.value("Person 1", "updatedAt") == .date(1_617_810_769_638_733))
    let limited = store.rows.values.filter { row in
      row.entity.name == "ExpensiveSportCar" && row.fields.contains { $0.property.name == "isLimitedEdition" }
    }
    #expect(limited.count == 5)
  }

  @Test func rowsOfWriteAheadLogAreRead() throws {
    let store = try StoreFixture("Bookmarks1.sqlite").read()
    #expect(store.counts == ["BookmarkEntity": 10])
    #expect(store.remarks == [])
    #expect(try store.value("BookmarkEntity 2", "title") == .string("2"))
    #expect(try store.value("BookmarkEntity 2", "isFavorite") == .bool(true))
    #expect(try store.value("BookmarkEntity 4", "isFavorite") == .bool(false))
    #expect(try store.value("BookmarkEntity 9", "url") == .null)
    #expect(try store.reference("BookmarkEntity 2", "parent") == "BookmarkEntity 10")
    #expect(try store.reference("BookmarkEntity 9", "parent") == nil)
  }

  @Test func orderedToManyHasTheOrderOfTheStore() throws {
    let store = try StoreFixture("Bookmarks1.sqlite").read()
    #expect(try store.members("BookmarkEntity 10", "children") == [4, 2, 7, 8, 6])
    #expect(try store.members("BookmarkEntity 7", "children") == [5, 3, 1])
    #expect(try store.members("BookmarkEntity 9", "favorites") == [6, 8, 1, 3, 2])
    #expect(try store.members("BookmarkEntity 9", "children") == [])
  }

  @Test func orderedManyToManyOfOneEntityIsRead() throws {
    let store = try StoreFixture("Bookmarks4.sqlite").read()
    #expect(store.counts == ["BookmarkEntity": 10])
    #expect(store.remarks == [])
    #expect(try store.members("BookmarkEntity 3", "favorites") == [8, 1, 10, 7, 9])
    #expect(try store.members("BookmarkEntity 5", "children") == [2, 9, 4, 1, 8])
    #expect(try store.value("BookmarkEntity 1", "modifiedAt") == .date(1_701_792_358_135_948))
    #expect(try store.value("BookmarkEntity 3", "modifiedAt") == .null)
    #expect(store.layout.lists.map(\.property.name).sorted() == ["children", "favorites"])
  }

  @Test func storeWithoutItsModelIsRead() throws {
    let store = try StoreFixture("WorldFacts.sqlite").read()
    #expect(store.file.model == nil)
    #expect(store.counts == ["Country": 252])
    #expect(store.remarks == [])
    #expect(try store.value("Country 1", "population") == .integer(38_500_000))
    #expect(try store.value("Country 1", "area") == .double(312_685))
    #expect(try store.value("Country 8", "phone") == .string(""))
    #expect(try store.value("Country 8", "capital") == .string("Grytviken"))
  }

  @Test func abstractEntityAndGapsInKeysAreRead() throws {
    let store = try StoreFixture("Moody.moody").read()
    #expect(store.counts == ["Continent": 2, "Country": 3, "Mood": 4])
    #expect(store.remarks == [])
    #expect(try store.value("GeographicRegion 1", "numberOfCountries") == .integer(6))
    #expect(try store.value("GeographicRegion 1", "updatedAt") == .date(1_443_438_937_392_830))
    #expect(try store.content("GeographicRegion 21", "numberOfCountries") == nil)
    #expect(try store.reference("GeographicRegion 21", "continent") == "GeographicRegion 2")
    #expect(try store.reference("Mood 100", "country") == "GeographicRegion 21")
    guard case .data(let colors)? = try store.value("Mood 38", "colors") else {
      Issue.record("a transformable is data")
      return
    }
    #expect(colors.count == 24 && colors.starts(with: [0x6B, 0x65, 0x5A]))
    #expect(try #require(store.rows["GeographicRegion 1"]).version == 2)
  }

  @Test func datesTextsAndExternalDataAreRead() throws {
    let store = try StoreFixture("Notes.sqlite").read()
    #expect(store.counts == ["IDMMediaFile": 2, "IDMNote": 4, "IDMTag": 3])
    #expect(try store.value("IDMNote 1", "creationDate") == .date(978_307_200_000_000))
    #expect(try store.value("IDMNote 2", "creationDate") == .date(1_717_307_200_250_000))
    #expect(try store.value("IDMNote 4", "creationDate") == .date(978_220_799_500_000))
    #expect(try store.value("IDMNote 5", "creationDate") == .date(1_009_843_200_000_000))
    #expect(try store.value("IDMNote 2", "text") == .string("Grüße 🙂\nline two"))
    #expect(try store.value("IDMNote 4", "text") == .null)
    #expect(try store.members("IDMNote 1", "tags") == [1, 2])
    #expect(try store.members("IDMNote 5", "tags") == [1])
    #expect(try store.reference("IDMNote 2", "imageFile") == "IDMMediaFile 2")
    guard case .data(let small)? = try store.value("IDMMediaFile 1", "data"),
      case .data(let big)? = try store.value("IDMMediaFile 2", "data")
    else {
      Issue.record("external values are data")
      return
    }
    #expect(small.count == 208 && small.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    #expect(big.count == 150_000 && big.starts(with: [0x85, 0xD8, 0x6B, 0xAC]))
    #expect(store.layout.remarks.map(\.subject) == ["IDMMediaFile.data"])
    #expect(store.layout.remarks.allSatisfy { $0.count == 0 })
  }

  @Test func modelOfStoreIsRead() throws {
    let model = try #require(try StoreFixture("Cars.sqlite").read().file.model)
    #expect(model.entities.map(\.name) == ["Car", "ExpensiveSportCar", "Person", "SportCar"])
    #expect(model.entity("SportCar")?.parent == "Car")
    let car = try #require(model.entity("Car"))
    #expect(car.attributes.first { $0.name == "color" }?.typeName == "Transformable")
    #expect(car.attributes.first { $0.name == "currentDrivingSpeed" }?.isTransient == true)
    #expect(car.attributes.first { $0.name == "numberPlate" }?.isOptional == false)
    let owner = try #require(car.relationships.first)
    #expect(owner.name == "owner" && owner.destination == "Person" && owner.inverse == "cars" && !owner.isToMany)
    let bookmarks = try #require(try StoreFixture("Bookmarks4.sqlite").read().file.model)
    let favorites = try #require(bookmarks.entities.first?.relationships.first { $0.name == "favorites" })
    #expect(favorites.isToMany && favorites.isOrdered)
    let regions = try #require(try StoreFixture("Moody.moody").read().file.model)
    #expect(regions.entity("GeographicRegion")?.isAbstract == true)
    #expect(regions.entity("Country")?.isAbstract == false)
  }
}
