"""Cases that are modules of Relax: rows of TVM's operators, and how a module is written."""
