"""Files that share limited space: budgets of bytes and the filling of media."""
