extension MailKind {
    /// The placeholders that its template may have.
    var placeholders: Set<MailTemplates.Placeholder> {
        switch self {
        case .signInCode, .resetCode, .emailCode: [.app, .link, .code, .minutes]
        case .passwordChanged: [.app, .link, .time, .place, .actor]
        case .accountDeleted: [.app, .link, .time]
        case .recordsChanged: [.app, .link, .collection, .changes]
        case .emailChangeBegun, .emailChanged, .emailRemoved, .passwordEnded, .newPlace: [.app, .link, .time, .place]
        }
    }

    /// The built-in template.
    ///
    /// No mail has text that others chose, such as names: anybody could send it to anybody. A mail of a
    /// subscription has ids of records that others chose, and their fields only with `PUSH_CONTENTS=contents`.
    var builtInText: String {
        switch self {
        case .signInCode:
            """
            Subject: Your code for {app}

            Your code to sign in to {app} is

                {code}

            It works once, within {minutes} minutes. Enter it only in the app. Nobody from {app} will ask you for it.

            If you did not ask for a code, you need not do anything. Somebody may have mistyped an address.
            """
        case .resetCode:
            """
            Subject: Your code for a new password for {app}

            Your code to choose a new password for {app} is

                {code}

            It works once, within {minutes} minutes. Enter it only in the app. Nobody from {app} will ask you for it.

            If you did not ask for a code, you need not do anything. Your password stays as it is.
            """
        case .emailCode:
            """
            Subject: Confirm your address for {app}

            Your code to confirm this address for {app} is

                {code}

            It works once, within {minutes} minutes. Enter it only in the app. Nobody from {app} will ask you for it.

            If you did not ask for a code, you need not do anything. Somebody may have mistyped an address.
            """
        case .emailChangeBegun:
            """
            Subject: Your address for {app} is about to change

            On {time}, from {place}, somebody asked to change the e-mail address of your account for {app}. It changes as soon \
            as the new address is confirmed.

            If it was you, you need not do anything.

            If it was not you, choose a new password now: open {link}, and tap "Forgot your password?". This also stops the \
            change.
            """
        case .emailChanged:
            """
            Subject: Your address for {app} has changed

            On {time}, from {place}, the e-mail address of your account for {app} was changed to another one.

            If it was you, you need not do anything.

            If it was not you, take your account back within a week: open {link}, tap "Forgot your password?", and enter \
            this address. It becomes the address of your account again, and all devices are signed out.
            """
        case .emailRemoved:
            """
            Subject: This address has no account for {app} now

            On {time}, from {place}, the account for {app} that had this address got another one.

            If you did not know of that account, you need not do anything: somebody had mistyped an address.

            If it was your account, and it was not you who changed it, write to the people who run {link}.
            """
        case .passwordChanged:
            """
            Subject: Your password for {app} has changed

            On {time}, from {place}, the password of your account for {app} was changed {actor}.

            If it was you, you need not do anything.

            If it was not you, choose a new password now: open {link}, and tap "Forgot your password?". All devices are \
            signed out then.
            """
        case .passwordEnded:
            """
            Subject: Your account for {app} has no password now

            On {time}, from {place}, somebody signed in to {app} with a code that was sent to this address. It was the first \
            proof that the address is yours. So the password that the account had, and all other devices, do not work any more.

            To choose a password, open {link}, and tap "Forgot your password?".
            """
        case .accountDeleted:
            """
            Subject: Your account for {app} is deleted

            On {time}, your account for {app} was deleted, with all its photos. This can't be undone.
            """
        case .recordsChanged:
            """
            Subject: Changes in {collection} of {app}

            This has changed in {collection}:

            {changes}

            Open {link} to see it. You get this mail because you have asked for it in the app, and you can end it there.
            """
        case .newPlace:
            """
            Subject: A new sign-in to {app}

            On {time}, somebody signed in to your account for {app} from a new place: {place}.

            If it was you, you need not do anything.

            If it was not you, choose a new password now: open {link}, and tap "Forgot your password?". All devices are \
            signed out then.
            """
        }
    }
}
