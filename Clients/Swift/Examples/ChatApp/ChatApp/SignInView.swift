import SwiftUI

struct SignInView: View {
    @ObservedObject var account: AccountModel
    @State private var isNew = false
    @State private var email = ""
    @State private var password = ""
    @State private var firstName = ""
    @State private var lastName = ""

    var body: some View {
        Form {
            Toggle("I am new here", isOn: $isNew)
            TextField("E-mail", text: $email)
                .textContentType(.username)
                .keyboardType(.emailAddress)
                .textInputAutocapitalization(.never)
            SecureField("Password", text: $password)
                .textContentType(isNew ? .newPassword : .password)
            if isNew {
                TextField("First name", text: $firstName)
                TextField("Last name", text: $lastName)
            }
            Button(isNew ? "Create account" : "Sign in") {
                Task {
                    if isNew {
                        await account.signUp(email, password, firstName: firstName, lastName: lastName)
                    } else {
                        await account.signIn(email, password)
                    }
                }
            }
            .disabled(email.isEmpty || password.isEmpty)
            if let problem = account.problem { Text(problem).foregroundColor(.red) }
        }
    }
}
