/// The 5 s within which an outage is answered, and what a machine that runs all tests at once may add.
let maxOutageAnswer: Duration = .seconds(5) + .seconds(3)
