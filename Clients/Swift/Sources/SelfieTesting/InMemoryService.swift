/// Placeholder until the fakes are here.
