import SelfieClient
import SwiftUI

/// Whom the user can talk to.
struct PeopleView: View {
    @ObservedObject var account: AccountModel
    @State private var beginning = ""
    @State private var known: [Conversation] = []
    @State private var members: [Member] = []
    @State private var conversation: Conversation?
    @State private var problem: String?

    var body: some View {
        NavigationStack {
            List {
                if let problem { Text(problem).foregroundColor(.red) }
                Section("Conversations") {
                    ForEach(known) { known in Button(known.otherName) { conversation = known } }
                }
                Section("People") {
                    ForEach(members) { member in
                        Button("\(member.firstName) \(member.lastName)") { begin(with: member) }
                    }
                }
            }
            .searchable(text: $beginning)
            .task { await follow() }
            .task(id: beginning) { await search() }
            .navigationTitle("Chat")
            .navigationDestination(isPresented: isTalking) {
                if let conversation { ConversationView(conversation: conversation, selfie: account.selfie) }
            }
            .toolbar { Button("Sign out") { Task { await account.signOut() } } }
        }
    }

    private var isTalking: Binding<Bool> {
        Binding(get: { conversation != nil }, set: { if !$0 { conversation = nil } })
    }

    /// Shows the conversations on this device, also without a network.
    private func follow() async {
        do {
            let replica = try await Conversation.replica(account.selfie)
            for await threads in replica.results(MessageThread.self) {
                known = threads.compactMap { Conversation($0, account.selfie, replica) }
            }
        } catch {
            problem = error.localizedDescription
        }
    }

    private func search() async {
        do {
            let page = try await account.selfie.members(startingWith: beginning.isEmpty ? nil : beginning)
            (members, problem) = (page.members.filter { $0.id != account.userID }, nil)
        } catch is CancellationError {
            // Another letter was typed.
        } catch {
            (members, problem) = ([], error.localizedDescription)
        }
    }

    private func begin(with member: Member) {
        Task {
            do {
                conversation = try await Conversation.begin(with: member, account.selfie)
            } catch {
                problem = error.localizedDescription
            }
        }
    }
}
