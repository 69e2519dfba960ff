import PhotosUI
import SelfieClient
import SwiftUI

/// The messages of a conversation, and those that wait in the outbox.
struct ConversationView: View {
    let conversation: Conversation
    let selfie: Selfie
    @State private var messages: [Record<Message>] = []
    @State private var waiting: [OutboxItem] = []
    @State private var text = ""
    @State private var picked: PhotosPickerItem?
    @State private var problem: String?

    var body: some View {
        VStack {
            ScrollViewReader { scroll in
                List {
                    ForEach(messages) { message in
                        MessageRow(message: message, conversation: conversation).id(message.id)
                    }
                    ForEach(waiting) { item in WaitingRow(item: item, selfie: selfie) }
                }
                .listStyle(.plain)
                .onChange(of: messages.last?.id) { id in
                    if let id { scroll.scrollTo(id, anchor: .bottom) }
                }
            }
            if let problem { Text(problem).foregroundColor(.red) }
            HStack {
                PhotosPicker(selection: $picked, matching: .images) { Image(systemName: "photo") }
                TextField("Message", text: $text).textFieldStyle(.roundedBorder)
                Button("Send") { Task { await send() } }.disabled(text.isEmpty)
            }
            .padding()
        }
        .navigationTitle(conversation.otherName)
        .task { for await result in conversation.messages { messages = result } }
        .task { for await items in await selfie.outbox.updates { waiting = items.filter(isHere) } }
        .onChange(of: picked) { item in
            guard let item else { return }
            Task { await send(item) }
        }
    }

    /// Whether an item of the outbox is a message of this conversation.
    private func isHere(_ item: OutboxItem) -> Bool {
        item.fields(as: Message.self)?.threadId == conversation.id
    }

    private func send() async {
        do {
            try await conversation.send(text)
            (text, problem) = ("", nil)
        } catch {
            problem = error.localizedDescription
        }
    }

    private func send(_ item: PhotosPickerItem) async {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            guard let data = try await item.loadTransferable(type: Data.self) else { return }
            try data.write(to: file)
            try await conversation.send(text, picture: file)
            (text, picked, problem) = ("", nil, nil)
        } catch {
            problem = error.localizedDescription
        }
    }
}

private struct MessageRow: View {
    let message: Record<Message>
    let conversation: Conversation
    @State private var picture: UIImage?

    var body: some View {
        VStack(alignment: .leading) {
            Text(conversation.sender(of: message)).font(.caption)
            if let picture { Image(uiImage: picture).resizable().scaledToFit().frame(maxHeight: 240) }
            Text(message.fields.text)
        }
        .task(id: message.version) {
            guard let data = try? await conversation.picture(of: message) else { return }
            picture = UIImage(data: data)
        }
    }
}

private struct WaitingRow: View {
    let item: OutboxItem
    let selfie: Selfie

    var body: some View {
        VStack(alignment: .leading) {
            Text(item.fields(as: Message.self)?.text ?? "").foregroundColor(.secondary)
            switch item.state {
            case .refused(let error):
                Text(error.localizedDescription).font(.caption).foregroundColor(.red)
                Button("Remove") { Task { try? await selfie.outbox.drop(item.id) } }
            case .waiting(let error?):
                Text(error.localizedDescription).font(.caption)
            default:
                Text("Sending …").font(.caption)
            }
        }
    }
}
